// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"time"
)

// Run keeps the table until the context ends. The channel receives a value after documents have changed.
func (a *Agent) Run(ctx context.Context, changed <-chan struct{}) {
	for ctx.Err() == nil {
		timer := a.Clock.NewTimer(a.Turn(ctx))
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C():
		}
		timer.Stop()
	}
	a.Stop()
}

// Stop reverts a trial, because no one may be there to end it later. Confirmed rules stay in force.
func (a *Agent) Stop() {
	if a.loaded && a.state.Trial != nil {
		a.note(a.restore())
	}
}

// Turn does what is due, and returns how long to wait for the next turn.
func (a *Agent) Turn(ctx context.Context) time.Duration {
	if err := a.load(); err != nil {
		a.note(err)
		return retryTime
	}
	if a.state.Trial != nil {
		return a.judge(ctx)
	}
	if wait := a.learned.Sub(a.Clock.Now()); wait > 0 {
		return wait
	}
	wait := checkTime
	if err := a.follow(ctx); err != nil {
		a.note(err)
		wait = retryTime
	} else if a.state.Trial != nil {
		return 0
	}
	a.note(a.orderHost())
	a.suspect(ctx)
	a.report(ctx)
	if !a.reverted.IsZero() {
		return measureTime
	}
	return min(wait, a.hostWait())
}

// load reads the state at the start. A trial in it was not confirmed before the agent ended, so it is reverted.
func (a *Agent) load() error {
	if a.loaded {
		return nil
	}
	state, err := a.Store.Load()
	if err != nil {
		return err
	}
	if a.state = state; state.Trial == nil {
		a.loaded = true
		return nil
	}
	a.Log.Warn("The agent ended during a trial of firewall rules, so the previous rules are restored")
	f := a.failureOf(*state.Trial)
	f.Crashes++
	f.Reason = "the firewall agent ended before it could confirm the rules"
	a.state.Failure = f
	err = a.restore()
	a.loaded = err == nil
	return err
}

// follow makes the table that of the declared rules. Without contact since the start, these are the confirmed ones.
func (a *Agent) follow(ctx context.Context) error {
	pools, nodes, known := a.Cluster.Documents()
	if !known {
		return a.keep()
	}
	wanted, err := Select(a.Node, pools, nodes)
	if err != nil {
		a.problem = err.Error()
		return a.keep()
	}
	a.problem = ""
	switch {
	case wanted.equal(a.state.Confirmed):
		return a.confirmed()
	case wanted.empty():
		return a.clear()
	case a.waits(wanted):
		return a.keep()
	}
	return a.try(ctx, wanted)
}

// confirmed ends the memory of a failure: the declared rules are those in force.
func (a *Agent) confirmed() error {
	if a.state.Failure != nil {
		a.state.Failure, a.reverted = nil, time.Time{}
		if err := a.Store.Save(a.state); err != nil {
			return err
		}
	}
	return a.keep()
}
