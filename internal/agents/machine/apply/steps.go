// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/plan"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// step carries out one step. kept is true for a directory that could not be removed, because it has entries of others.
// notes say which labels stay.
func (h *Host) step(ctx context.Context, s plan.Step) (kept bool, notes []string, err error) {
	if s.Do == plan.SetLabels {
		notes, err = labeller{h}.set(ctx, s.Paths)
		return false, notes, err
	}
	kept, err = h.change(ctx, s)
	return kept, nil, err
}

func (h *Host) change(ctx context.Context, s plan.Step) (kept bool, err error) {
	switch s.Do {
	case plan.DaemonReload:
		return false, h.Units.DaemonReload(ctx)
	case plan.UpdateBoot:
		return false, h.updateBoot(ctx)
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

// bootDirectories can be file systems of their own. Some hosts have only some of them.
var bootDirectories = []string{"/boot", "/boot/grub", "/boot/efi", "/efi"}

// updateBoot writes to disk what update-grub wrote, because it does not: without its configuration, a host does not boot.
func (h *Host) updateBoot(ctx context.Context) error {
	if err := h.UpdateBoot(ctx); err != nil {
		return err
	}
	for _, dir := range bootDirectories {
		if err := h.FS.SyncAll(dir); err != nil && !hostfs.IsBehindLink(err) {
			return err
		}
	}
	return nil
}

func (h *Host) setUnit(ctx context.Context, s plan.Step) error {
	if s.To.Value == units.Enabled {
		return h.Units.Enable(ctx, s.Name)
	}
	return h.Units.Disable(ctx, s.Name)
}

// readBack notes the values that the kernel stored in place of those that were set: it completes, rounds or limits
// some. Otherwise they would be drift for ever.
func (h *Host) readBack(p plan.Plan) error {
	for _, s := range p.Steps {
		r, kept := p.Done.Records[s.Key]
		if s.Kind != ledger.Sysctl || !kept {
			continue
		}
		found, err := h.sysctlState(s.Name)
		if err != nil {
			return err
		}
		if !ledger.Same(s.Kind, found, s.To) {
			r.Written, r.Instead = found, &s.To
			p.Done.Records[s.Key] = r
		}
	}
	return nil
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
