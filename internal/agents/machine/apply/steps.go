// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/plan"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// errChanged means that another program changed an entry after it was observed. The next application sees the change.
var errChanged = errors.New("another program changed it a moment ago, so opcrew did not")

// step carries out one step. kept is true for a directory that could not be removed, because it has entries of others.
func (h *Host) step(ctx context.Context, s plan.Step) (kept bool, err error) {
	switch s.Do {
	case plan.DaemonReload:
		return false, h.Units.DaemonReload(ctx)
	case plan.UpdateBoot:
		return false, h.UpdateBoot(ctx)
	}
	switch s.Kind {
	case ledger.Path:
		return h.setPath(s)
	case ledger.Sysctl:
		return false, h.Kernel.Set(s.Name, s.To.Value)
	case ledger.Unit:
		return false, h.setUnit(ctx, s)
	case ledger.Password:
		return false, h.setPassword(ctx, s)
	}
	return false, h.setPart(s)
}

func (h *Host) setUnit(ctx context.Context, s plan.Step) error {
	if s.To.Value == units.Enabled {
		return h.Units.Enable(ctx, s.Name)
	}
	return h.Units.Disable(ctx, s.Name)
}

// settle writes to disk what an earlier step changed.
func (h *Host) settle(r ledger.Record) error {
	switch r.Kind {
	case ledger.Unit:
		return h.FS.SyncAll(hostconfig.UnitDirectory)
	case ledger.Sysctl:
		return nil
	case ledger.Path:
		return h.FS.Settle(r.Name)
	}
	return h.FS.Settle(partFile(r.Key))
}

// endsUnits reports whether the first of the steps is the last of several that call systemctl. Its changes must be on
// disk before the next step, because systemctl does not sync them.
func endsUnits(steps []plan.Step) bool {
	return steps[0].Kind == ledger.Unit && (len(steps) == 1 || steps[1].Kind != ledger.Unit)
}

// preflight returns everything that would make a step fail. It changes nothing.
func (h *Host) preflight(p plan.Plan) error {
	var errs []error
	for _, s := range p.Steps {
		switch s.Kind {
		case ledger.Path:
			errs = append(errs, h.FS.Changeable(s.Name))
		case ledger.Keys, ledger.Password, ledger.Boot:
			errs = append(errs, h.FS.Changeable(partFile(s.Key)))
		}
	}
	for _, key := range p.Copies {
		errs = append(errs, h.copyable(key.Name))
	}
	if len(p.Steps) > 0 {
		errs = append(errs, h.FS.Changeable(hostconfig.StateDirectory))
	}
	return errors.Join(errs...)
}

func (h *Host) copyable(p string) error {
	size, err := h.FS.Size(p)
	if err == nil && size > ledger.MaxCopy {
		err = fmt.Errorf("%s has %d bytes, and opcrew keeps a copy of at most %d: move the file away, or declare another path", p, size, ledger.MaxCopy)
	}
	return err
}

// contentOf returns the content that a step writes.
func (h *Host) contentOf(s plan.Step) ([]byte, error) {
	if s.Content == nil && s.To.Hash != hostfs.Hash(nil) {
		return h.Store.Original(s.To.Hash)
	}
	return s.Content, nil
}
