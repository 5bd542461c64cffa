// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"fmt"
	"time"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
)

const (
	// cutTime is how long a node without contact waits before it reverts, so that it is back within a minute.
	cutTime = 30 * time.Second
	// proofTime is how soon after a revert the contact must come back to be a proof against the rules. An API server
	// that stays away was not cut off by them.
	proofTime = 20 * time.Second
	// learnTime is how long a kernel learns. Programs such as kubelets check their connections every 30 seconds.
	learnTime = 35 * time.Second
	// againTime is how long rules wait for another trial.
	againTime = 5 * time.Minute
)

// try begins a trial. The state is on disk before the rules are in the kernel.
func (a *Agent) try(ctx context.Context, wanted Rules) error {
	table, err := wanted.table(a.Node)
	if err != nil {
		return err
	}
	if !a.Cluster.Reaches(ctx) {
		// A trial without contact would prove nothing. The confirmed rules stay in force until the contact is back.
		a.problem = "new rules wait until the API server answers on a new connection"
		return a.keep()
	}
	if waits, err := a.learn(table); err != nil || waits {
		return err
	}
	a.state.Trial = &wanted
	if err := a.Store.Save(a.state); err != nil {
		a.state.Trial = nil
		return err
	}
	a.Log.Info("Firewall rules are tried", "pools", wanted.revisions())
	a.silent = a.Clock.Now()
	if err := a.Kernel.Apply(table); err != nil {
		return a.refuse(err)
	}
	return nil
}

// learn gives a kernel that tracks no connections yet the time to learn those that exist. Without it, the first rules
// would drop their packets. Until then the table drops nothing.
func (a *Agent) learn(table ruleset.Table) (waits bool, err error) {
	if !a.state.Confirmed.empty() || !a.learned.IsZero() {
		return false, nil
	}
	tracks, err := a.Kernel.Tracks()
	if err != nil || tracks {
		return false, err
	}
	table.Deny, table.Closed = false, nil
	a.Log.Info("The kernel learns the connections that exist before firewall rules are tried")
	a.learned = a.Clock.Now().Add(learnTime)
	return true, a.Kernel.Apply(table)
}

// refuse ends a trial whose rules the kernel did not accept.
func (a *Agent) refuse(err error) error {
	f := a.failureOf(*a.state.Trial)
	f.Reason = err.Error()
	a.state.Failure, a.again = f, a.Clock.Now().Add(againTime)
	if err := a.restore(); err != nil {
		return err
	}
	return err
}

// judge ends a trial, or waits for the contact.
func (a *Agent) judge(ctx context.Context) time.Duration {
	now := a.Clock.Now()
	switch {
	case a.Cluster.Reaches(ctx):
		a.note(a.confirm())
		return 0
	case now.Sub(a.silent) < cutTime:
		return measureTime
	}
	f := a.failureOf(*a.state.Trial)
	f.Reason = fmt.Sprintf("the node did not reach the API server for %s, so it restored the previous rules", cutTime)
	a.state.Failure = f
	a.Log.Warn("Firewall rules are reverted", "reason", f.Reason)
	if err := a.restore(); err != nil {
		a.note(err)
		return measureTime
	}
	a.reverted, a.again = a.Clock.Now(), a.Clock.Now().Add(againTime)
	return measureTime
}

// confirm keeps the rules of the trial.
func (a *Agent) confirm() error {
	before := a.state
	a.state = State{Confirmed: *before.Trial}
	if err := a.Store.Save(a.state); err != nil {
		a.state = before
		return err
	}
	a.reverted = time.Time{}
	a.Log.Info("Firewall rules are confirmed", "pools", a.state.Confirmed.revisions())
	return nil
}

// restore writes the confirmed rules to the kernel, and then ends the trial on disk.
func (a *Agent) restore() error {
	if err := a.keep(); err != nil {
		return err
	}
	a.state.Trial = nil
	return a.Store.Save(a.state)
}

// suspect decides after a revert whether the rules had cut the node off: only then the contact comes back at once.
func (a *Agent) suspect(ctx context.Context) {
	if a.reverted.IsZero() || a.state.Failure == nil {
		return
	}
	since := a.Clock.Now().Sub(a.reverted)
	switch {
	case a.Cluster.Reaches(ctx) && since <= proofTime:
		a.state.Failure.Cuts++
	case since <= proofTime:
		return
	default:
		a.again = a.Clock.Now() // an outage: try again as soon as there is contact
	}
	a.reverted = time.Time{}
	a.note(a.Store.Save(a.state))
}

// waits reports whether rules whose trial failed must wait, or are not tried any more.
func (a *Agent) waits(wanted Rules) bool {
	f := a.state.Failure
	if f == nil || !f.Rules.equal(wanted) {
		return false
	}
	return f.final() || !a.reverted.IsZero() || a.Clock.Now().Before(a.again)
}

// failureOf returns a copy of the failure of these rules, or a new one.
func (a *Agent) failureOf(rules Rules) *Failure {
	if f := a.state.Failure; f != nil && f.Rules.equal(rules) {
		out := *f
		return &out
	}
	return &Failure{Rules: rules}
}
