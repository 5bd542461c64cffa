// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/agents/machine/drift"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// scanner looks for drift of the host.
type scanner struct{ *Agent }

// scan looks for drift, and repairs or adopts it if the policy says so.
func (a scanner) scan(ctx context.Context, in *decide.Input) error {
	l, err := a.Host.Store.Load()
	if err != nil {
		return err
	}
	a.changed = false // what changes during the scan leads to another one
	a.watch(l)
	found, err := a.find(ctx, l)
	if err != nil {
		return err
	}
	decision := drift.Decide(policy(in), found, a.repairs, instant(a.now.Uptime))
	if err := a.treat(ctx, l, decision); err != nil {
		a.Log.Warn("Drift could not be repaired, and is reported", "error", err.Error())
		if decision, err = a.afterwards(ctx); err != nil {
			return err
		}
	}
	a.note(decision)
	uptime := a.now.Uptime
	a.scanned = &uptime
	return nil
}

// afterwards reports the drift that an incomplete repair leaves.
func (a scanner) afterwards(ctx context.Context) (drift.Decision, error) {
	l, err := a.Host.Store.Load()
	if err != nil {
		return drift.Decision{}, err
	}
	found, err := a.find(ctx, l)
	return drift.Decide(drift.Report, found, nil, instant(a.now.Uptime)), err
}

// policy returns the policy of the newest order that the agent knows.
func policy(in *decide.Input) drift.Policy {
	if in.Order != nil {
		return drift.Policy(cmp.Or(in.Order.Drift, machineorder.ReportDrift))
	}
	return drift.Policy(cmp.Or(in.Journal.Order.Drift, machineorder.ReportDrift))
}

// instant is the time for the history of repairs. The date of the host may be wrong.
func instant(uptime time.Duration) time.Time { return time.Time{}.Add(uptime) }

// watch must not keep the agent from scanning, because a host can have too few watches.
func (a scanner) watch(l ledger.Ledger) {
	if err := a.Files.Set(l); err != nil && a.scanned == nil {
		a.Log.Warn("Some files are not watched, but scanned every "+decide.ScanTime.String(), "error", err.Error())
	}
}

func (a scanner) find(ctx context.Context, l ledger.Ledger) ([]drift.Drift, error) {
	states, unreadable := a.Host.States(ctx, l)
	if ctx.Err() == nil {
		a.noteUnreadable(unreadable)
	}
	return drift.Scan(l, states), ctx.Err()
}

// noteUnreadable reports files that cannot be examined. systemd and the kernel answer again a little later.
func (a scanner) noteUnreadable(unreadable map[ledger.Key]error) {
	a.unreadable = nil
	for _, key := range slices.SortedFunc(maps.Keys(unreadable), ledger.Compare) {
		if key.Kind == ledger.Unit || key.Kind == ledger.Sysctl {
			a.Log.Warn("A state could not be observed", "kind", key.Kind, "name", key.Name, "error", unreadable[key].Error())
			continue
		}
		a.unreadable = append(a.unreadable, fmt.Sprintf("%s cannot be examined: %v", key.Name, unreadable[key]))
	}
}

// treat repairs and adopts drift. A repair applies the whole configuration again, as far as the host permits it.
func (a scanner) treat(ctx context.Context, l ledger.Ledger, decision drift.Decision) error {
	if len(decision.Adopt) > 0 {
		return a.Host.Store.Save(drift.Adopted(l, decision.Adopt))
	}
	if len(decision.Repair) == 0 {
		return nil
	}
	a.repairs = a.repairs.Add(decision.Repair, instant(a.now.Uptime))
	out, err := a.apply(ctx, cmp.Or(l.Config, machineorder.None), true)
	if err == nil && len(out.Left) > 0 {
		err = errors.New(strings.Join(out.Left, "; "))
	}
	return err
}

// note remembers the drift for the report, and logs what is new.
func (a scanner) note(decision drift.Decision) {
	for what, drifts := range map[string][]drift.Drift{"Drift was repaired": decision.Repair, "Drift was adopted": decision.Adopt} {
		for _, d := range drifts {
			a.Log.Info(what, "drift", d.String())
		}
	}
	var found []string
	texts := slices.Clone(a.unreadable)
	for _, d := range decision.Report {
		text := d.String()
		if slices.ContainsFunc(decision.Contested, func(c drift.Drift) bool { return c.Key == d.Key }) {
			text += "; another program undoes each repair"
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		if found = append(found, text); !slices.Contains(a.drift, text) {
			a.Log.Warn("Drift was found", "drift", text)
		}
	}
	a.drift = found
}
