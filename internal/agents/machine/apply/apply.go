// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/plan"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Result is what Apply did.
type Result struct {
	Steps []plan.Step
	// Conflicts are changes of others to what the configuration no longer declares. They stay, as do Kept directories,
	// which opcrew created and which have entries of others.
	Conflicts []plan.Conflict
	Kept      []string
	// Left is what Revert left out, because the host cannot do it.
	Left []string
	// Labels says which SELinux labels could not be set.
	Labels []string
}

// Apply changes the host to a configuration. An empty configuration restores the host.
func (h *Host) Apply(ctx context.Context, c hostconfig.Config) (Result, error) {
	l, err := h.recovered()
	if err != nil {
		return Result{}, err
	}
	p, err := h.plan(ctx, l, c)
	if err != nil {
		return Result{}, err
	}
	return h.execute(ctx, l, p, false)
}

// Plan returns what Apply would do, and changes nothing. The error names everything that the host cannot do.
func (h *Host) Plan(ctx context.Context, c hostconfig.Config) (plan.Plan, error) {
	l, err := h.Store.Load()
	if err != nil {
		return plan.Plan{}, err
	}
	return h.plan(ctx, l, c)
}

func (h *Host) plan(ctx context.Context, l ledger.Ledger, c hostconfig.Config) (plan.Plan, error) {
	if err := c.Check(); err != nil {
		return plan.Plan{}, err
	}
	f, err := h.observe(ctx, l, c)
	if err != nil {
		return plan.Plan{}, err
	}
	p, err := plan.New(c, l, f)
	return p, errors.Join(err, h.preflight(p))
}

// recovered returns the ledger, after it wrote to disk what a crashed process left in memory. Otherwise a step that the
// plan leaves out, because its result is visible, could be lost in a later power failure.
func (h *Host) recovered() (ledger.Ledger, error) {
	if err := h.Store.Settle(); err != nil {
		return ledger.Ledger{}, err
	}
	l, err := h.Store.Load()
	if err != nil {
		return l, err
	}
	for _, r := range l.Sorted() {
		if r.Pending {
			if err := h.settle(r); err != nil && !hostfs.IsBehindLink(err) {
				return l, fmt.Errorf("complete an earlier change of %s %s: %w", r.Kind, r.Name, err)
			}
		}
	}
	return l, nil
}

// execute carries out a plan. If it is tolerant, a step that fails does not keep it from the others.
func (h *Host) execute(ctx context.Context, l ledger.Ledger, p plan.Plan, tolerant bool) (Result, error) {
	out := Result{Steps: p.Steps, Conflicts: p.Conflicts, Kept: p.Kept, Left: p.Left, Labels: p.Labels}
	saved, err := h.begin(l, p)
	if err != nil {
		return out, fmt.Errorf("nothing was changed on the host, because the ledger cannot be written: %w", err)
	}
	kept, labels, err := h.steps(ctx, p, tolerant)
	out.Labels = append(out.Labels, labels...)
	if err != nil {
		return out, err
	}
	for _, key := range kept {
		out.Kept = append(out.Kept, key.Name)
		p.Done.Records[key] = keptRecord(p.Intent.Records[key])
	}
	if err := h.readBack(p); err != nil {
		return out, err
	}
	if err := h.save(saved, p.Done); err != nil {
		return out, err
	}
	return out, h.Store.Collect(p.Done)
}

// begin writes to disk what is needed to restore the host. It returns the ledger that is on disk afterwards.
func (h *Host) begin(l ledger.Ledger, p plan.Plan) (ledger.Ledger, error) {
	if len(p.Steps) == 0 {
		return l, nil
	}
	if err := h.copyOriginals(p); err != nil {
		return l, err
	}
	return p.Intent, h.save(l, p.Intent)
}

func keptRecord(r ledger.Record) ledger.Record {
	r.Pending, r.Previous, r.Unlabelled = false, ledger.State{}, false
	return r
}

// save writes the ledger only if it has changed, so applying the same configuration again writes nothing.
func (h *Host) save(old, l ledger.Ledger) error {
	before, err := ledger.Encode(old)
	if err != nil {
		return err
	}
	after, err := ledger.Encode(l)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return h.Store.Save(l)
}

// steps carries out the steps, and returns which directories stayed, and which labels.
func (h *Host) steps(ctx context.Context, p plan.Plan, tolerant bool) (kept []ledger.Key, labels []string, errs error) {
	for i, s := range p.Steps {
		stays, notes, err := h.step(ctx, s)
		labels = append(labels, notes...)
		if err == nil && endsUnits(p.Steps[i:]) {
			err = h.FS.SyncAll(hostconfig.UnitDirectory)
		}
		if stays {
			kept = append(kept, s.Key)
		}
		if err == nil {
			continue
		}
		errs = errors.Join(errs, fmt.Errorf("%s: %w", s, err))
		if !tolerant || ctx.Err() != nil {
			break
		}
	}
	return kept, labels, errs
}

// endsUnits reports whether the first of the steps is the last of several that call systemctl. Its changes must be on
// disk before the next step, because systemctl does not sync them.
func endsUnits(steps []plan.Step) bool {
	return steps[0].Kind == ledger.Unit && (len(steps) == 1 || steps[1].Kind != ledger.Unit)
}
