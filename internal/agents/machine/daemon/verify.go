// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// settleTime is how long after the actions the contacts of a node count. Some services cut a node off only some time
// after the call of systemctl.
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
	starting := s.Reboots && a.starting(ctx)
	a.tick()
	if contact.Counts(s.Before, found) {
		a.answered = a.now.Uptime
	}
	if starting {
		a.booting = a.now.Uptime
	}
	elapsed := min(s.Elapsed(a.now), a.now.Uptime-a.booting)
	silent := min(elapsed, a.now.Uptime-a.answered)
	verdict, reason := contact.Judge(contact.Input{Before: s.Before, Now: found, Elapsed: elapsed, Silent: silent, Rebooted: s.Reboots})
	if verdict == contact.Wait || verdict == contact.Confirmed && elapsed < settleTime && acts(o) {
		return decide.ProbeTime, nil
	}
	return 0, a.save(s, s.Judge(verdict, reason, a.now))
}

// startTime is after which time a host counts as started. A unit that never starts must not keep a node from a revert.
const startTime = 5 * time.Minute

// starting reports whether the host still starts units. Before that, the network or a firewall may be missing.
func (a *Agent) starting(ctx context.Context) bool {
	return a.now.Uptime < startTime && !a.System.Started(ctx)
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
