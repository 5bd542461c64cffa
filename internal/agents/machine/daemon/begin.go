// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// samples is how often the contacts before a change are measured, until all of them have answered. A contact that did
// not answer just then would not count, and the change could cut it off for good.
const samples = 3

// sample are the contacts that the agent has measured before a change.
type sample struct {
	config   string
	contacts contact.Contacts
	count    int
}

// measure adds a measurement, and reports whether there are enough.
func (a *Agent) measure(ctx context.Context, o *machineorder.Order) bool {
	if a.before.config != o.Config {
		a.before = sample{config: o.Config}
	}
	a.before.contacts = a.before.contacts.With(a.Contacts(ctx, o.Peers))
	a.before.count++
	complete := a.before.contacts.API && len(a.before.contacts.Peers) == len(o.Peers)
	return complete || a.before.count >= samples
}

// beginTrial records the order, and then the trial.
func (a *Agent) beginTrial(ctx context.Context, o *machineorder.Order) (time.Duration, error) {
	if !a.measure(ctx, o) {
		return decide.ProbeTime, nil
	}
	previous, err := a.current()
	if err != nil {
		return 0, err
	}
	a.tick()
	state := trial.New(o.Config, previous, o.Reboots(), a.before.contacts, a.now)
	a.before = sample{}
	if err := a.Journal.Save(journal.State{Order: *o}); err != nil {
		return 0, err
	}
	if err := a.Trial.Save(state); err != nil {
		return 0, err
	}
	a.Log.Info("The change begins", "config", o.Config, "previous", previous, "reboots", state.Reboots,
		"apiServer", state.Before.API, "peers", state.Before.Peers)
	return 0, nil
}
