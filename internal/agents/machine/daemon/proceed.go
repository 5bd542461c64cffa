// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// proceed carries out the step of a trial. The attempt is on disk before it begins.
func (a *Agent) proceed(ctx context.Context, in *decide.Input) (time.Duration, error) {
	s := in.Trial.Begin(a.now)
	if err := a.save(*in.Trial, s); err != nil {
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
	case trial.Act:
		if err := act(ctx, a.Host.Units, in.Journal.Order.Actions); err != nil {
			return 0, err
		}
	default:
		if err := a.apply(ctx, s.Target()); err != nil {
			return 0, err
		}
	}
	return 0, a.save(s, s.Next(a.now))
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

func (a *Agent) apply(ctx context.Context, name string) error {
	c, err := a.config(name)
	if err != nil {
		return err
	}
	out, err := a.Host.Apply(ctx, c)
	if err != nil {
		return err
	}
	a.scanned = nil
	a.Log.Info("The configuration is applied", "config", name, "steps", len(out.Steps), "conflicts", len(out.Conflicts), "kept", len(out.Kept))
	return nil
}

// act carries out the actions of an order, apart from drain and reboot.
func act(ctx context.Context, manager units.Manager, actions []machineorder.Action) error {
	for _, action := range actions {
		var err error
		switch action.Type {
		case machineorder.ActionDaemonReload:
			err = manager.DaemonReload(ctx)
		case machineorder.ActionReload:
			err = manager.Reload(ctx, action.Unit)
		case machineorder.ActionRestart:
			err = manager.Restart(ctx, action.Unit)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", action.Type, action.Unit, err)
		}
	}
	return nil
}

// reboot holds the step, because the host takes some time to go down.
func (a *Agent) reboot(ctx context.Context, s trial.State) (time.Duration, error) {
	a.Log.Info("The host reboots", "config", s.Target(), "attempt", s.Attempts)
	return rebootTime, a.System.Reboot(ctx)
}

// settleTime is how long a node must have had its services restarted before its contacts count. Some services cut a node
// off only some time after the call of systemctl.
const settleTime = 10 * time.Second

// verify compares the node with what it was before the change.
func (a *Agent) verify(ctx context.Context, s trial.State, o *machineorder.Order) (time.Duration, error) {
	missing, err := a.missingArguments(s)
	if err != nil {
		return 0, err
	}
	if len(missing) > 0 {
		reason := "the host has rebooted, but on its kernel command line " + strings.Join(missing, ", ")
		return 0, a.save(s, s.Revert(reason, a.now))
	}
	found := a.Contacts(ctx, o.Peers)
	if contact.Counts(s.Before, found) {
		a.answered = a.now.Uptime
	}
	elapsed := s.Elapsed(a.now)
	verdict, reason := contact.Judge(contact.Input{Before: s.Before, Now: found, Elapsed: elapsed, Silent: min(elapsed, a.now.Uptime-a.answered)})
	if verdict == contact.Wait || verdict == contact.Confirmed && elapsed < settleTime && acts(o) {
		return decide.ProbeTime, nil
	}
	return 0, a.save(s, s.Judge(verdict, reason, a.now))
}

// acts reports whether an order contains an action on the host.
func acts(o *machineorder.Order) bool {
	return slices.ContainsFunc(o.Actions, func(a machineorder.Action) bool { return a.Type != machineorder.ActionDrain })
}

// missingArguments returns what a reboot did not change in the kernel command line.
func (a *Agent) missingArguments(s trial.State) ([]string, error) {
	if !s.Reboots {
		return nil, nil
	}
	c, err := a.config(s.Config)
	if err != nil {
		return nil, err
	}
	line, err := a.System.CommandLine()
	return bootargs.Missing(line, c.KernelArguments, c.RemovedKernelArguments), err
}

// conclude records the result, and then ends the trial. Afterwards the host keeps only the configuration that it has.
func (a *Agent) conclude(in *decide.Input) error {
	s, j := in.Trial, in.Journal
	j.Outcome, j.Message, j.BootID = journal.Done, s.Reason, a.now.Boot
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
