// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/apply"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// rebootTime is how long a host may take to go down before the agent requests the reboot again.
const rebootTime = 5 * time.Minute

// proceed carries out the step of a trial. The attempt is on disk before it begins.
func (a *Agent) proceed(ctx context.Context, in *decide.Input) (time.Duration, error) {
	s := in.Trial.Begin(a.now)
	err := a.save(*in.Trial, s)
	if err != nil {
		return 0, err
	}
	if s.Step != in.Trial.Step || s.Reverting != in.Trial.Reverting {
		return 0, nil // the next turn decides about the new step
	}
	switch s.Step {
	case trial.Check:
		return a.verify(ctx, s, &in.Journal.Order)
	case trial.Reboot:
		return a.reboot(ctx, s)
	}
	notes, err := a.change(ctx, s, in.Journal.Order.Actions)
	if err != nil && ctx.Err() == nil { // the report names the error; the end of the process is none
		err = errors.Join(err, a.save(s, s.Fail(err.Error())))
	}
	if err != nil {
		return 0, err
	}
	a.tick()
	next := s.Next(a.now)
	next.Notes = slices.Concat(s.Notes, notes)
	return 0, a.save(s, next)
}

// change carries out a step that changes the host, and returns what it left out.
func (a *Agent) change(ctx context.Context, s trial.State, actions []machineorder.Action) (notes []string, err error) {
	if s.Step == trial.Act {
		return a.act(ctx, actions, s.Reverting)
	}
	notes, err = a.stopReplaced(ctx, s, actions)
	if err != nil {
		return nil, err
	}
	out, err := a.apply(ctx, s.Target(), s.Reverting)
	return append(notes, out.Notes()...), err
}

// save writes the state of the trial if it has changed.
func (a *Agent) save(old, s trial.State) error {
	if reflect.DeepEqual(old, s) {
		return nil
	}
	if err := a.Trial.Save(s); err != nil {
		return err
	}
	if old.Step != s.Step || old.Reverting != s.Reverting {
		a.Log.Info("The change continues", "config", s.Target(), "step", s.Step, "reverting", s.Reverting, "reason", s.Reason)
	}
	return nil
}

// apply applies a configuration. To one that the host had before, it goes as far as it can.
func (a *Agent) apply(ctx context.Context, name string, back bool) (apply.Result, error) {
	c, err := a.config(name)
	if err != nil {
		return apply.Result{}, err
	}
	do := a.Host.Apply
	if back {
		do = a.Host.Revert
	}
	out, err := do(ctx, c)
	if err != nil {
		return out, err
	}
	a.scanned = nil
	a.Log.Info("The configuration is applied", "config", name, "steps", len(out.Steps), "conflicts", len(out.Conflicts), "kept", len(out.Kept), "left", len(out.Left))
	return out, nil
}

// reboot holds the step, because the host takes some time to go down.
func (a *Agent) reboot(ctx context.Context, s trial.State) (time.Duration, error) {
	a.Log.Info("The host reboots", "config", s.Target(), "attempt", s.Attempts)
	return rebootTime, a.System.Reboot(ctx)
}

// conclude records the result, and then ends the trial. Afterwards the host keeps only the configuration that it has.
func (a *Agent) conclude(in *decide.Input) error {
	s, j := in.Trial, in.Journal
	j.Outcome, j.Message, j.BootID = journal.Done, s.Message(), a.now.Boot
	if s.Reverting {
		j.Outcome, j.RevertedTo = journal.Reverted, s.Previous
	}
	if s.Failed {
		j.Outcome, j.RevertedTo = journal.Failed, ""
	}
	if err := a.Journal.Save(j); err != nil {
		return err
	}
	if err := a.Trial.Clear(); err != nil {
		return err
	}
	a.check = nil
	a.Log.Info("The change is complete", "config", s.Config, "outcome", j.Outcome, "revertedTo", j.RevertedTo, "reason", j.Message)
	current, err := a.current()
	if err == nil {
		err = a.Trial.Collect(current)
	}
	if err != nil {
		a.Log.Warn("Unused configurations stay on the host", "error", err.Error())
	}
	return nil
}
