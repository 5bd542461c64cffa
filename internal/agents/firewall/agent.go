// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
)

const (
	// checkTime is the time between two readings of the kernel's table, which another process may remove.
	checkTime = 15 * time.Second
	// measureTime is the time between two measurements of the contact during a trial.
	measureTime = 2 * time.Second
	// retryTime is how long the agent waits after a write that failed.
	retryTime = 10 * time.Second
)

// Kernel writes the table of the node, and reads it back.
type Kernel interface {
	Apply(ruleset.Table) error
	Active(ruleset.Table) (bool, error)
	Remove() error
	Exists() (bool, error)
	Others() ([]string, error)
	// Tracks reports whether the kernel tracks connections.
	Tracks() (bool, error)
}

// Cluster is what the agent needs of the API server.
type Cluster interface {
	// Documents returns the rules of pools and the addresses of nodes; false until they have been read.
	Documents() (pools map[string]string, nodes string, known bool)
	// Reaches reports whether the API server answers on a new connection.
	Reaches(ctx context.Context) bool
	// Report writes the report on the Node; an empty one removes it.
	Report(ctx context.Context, text string) error
}

// Agent keeps the table of one node.
type Agent struct {
	Node    string
	Kernel  Kernel
	Cluster Cluster
	Store   *Store
	Clock   clock.WithTicker
	Log     *slog.Logger

	state  State
	loaded bool
	// silent is when the node had contact last, or when the trial began.
	silent time.Time
	// reverted is when a trial ended without contact; zero when its reason is known.
	reverted time.Time
	again    time.Time // when rules whose trial failed may be tried again
	learned  time.Time // when the kernel knows the connections that were there before it tracked them
	problem  string
	sent     report
}

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
	a.suspect(ctx)
	a.report(ctx)
	if !a.reverted.IsZero() {
		return measureTime
	}
	return wait
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

// keep repairs the table if another process changed it.
func (a *Agent) keep() error {
	if a.state.Confirmed.empty() {
		return a.removeTable()
	}
	table, err := a.state.Confirmed.table(a.Node)
	if err != nil {
		return err
	}
	active, err := a.Kernel.Active(table)
	if err != nil || active {
		return err
	}
	a.Log.Info("The firewall rules are written to the kernel, because it does not have them")
	return a.Kernel.Apply(table)
}

// clear removes the table and the state. To open all ports needs no trial.
func (a *Agent) clear() error {
	if err := a.removeTable(); err != nil {
		return err
	}
	a.state, a.reverted = State{}, time.Time{}
	return a.Store.Save(a.state)
}

func (a *Agent) removeTable() error {
	exists, err := a.Kernel.Exists()
	if err != nil || !exists {
		return err
	}
	a.Log.Info("The firewall rules are removed")
	return a.Kernel.Remove()
}

func (a *Agent) note(err error) {
	if err != nil {
		a.Log.Error("The firewall could not be changed", "error", err.Error())
		a.problem = err.Error()
	}
}
