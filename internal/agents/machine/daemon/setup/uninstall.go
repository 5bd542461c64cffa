// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Uninstall stops and removes the agent.
func Uninstall(ctx context.Context, o Options, log *slog.Logger) error {
	h, root, err := open(o, log)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // all changes are on disk
	return h.uninstall(ctx, o.Restore)
}

// uninstall removes the agent's state last. Until then, a repetition can still restore the host.
func (h *host) uninstall(ctx context.Context, restore bool) error {
	if err := h.stop(ctx); err != nil {
		return err
	}
	if restore {
		if err := h.restore(ctx); err != nil {
			return fmt.Errorf("the agent is stopped, and its files stay, because the host could not be restored: %w", err)
		}
	}
	if err := h.fs.Remove(unitFile); err != nil {
		return err
	}
	if err := h.systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	if err := h.removeFiles(func() error { return h.removeState(restore) }); err != nil {
		return err
	}
	h.log.Info("The machine agent is removed", "restored", restore)
	return nil
}

func (h *host) stop(ctx context.Context) error {
	found, err := h.fs.Read(unitFile)
	if err != nil || found.Type == hostfs.Absent {
		return err
	}
	return h.systemctl(ctx, "disable", "--now", machineorder.Unit)
}

// restore runs this program on the host, unless opcrew has changed nothing there.
func (h *host) restore(ctx context.Context) error {
	l, err := h.store().Load()
	if err != nil || len(l.Records) == 0 {
		return err
	}
	return h.run(ctx, true, "restore")
}

// removeFiles keeps the directory that opcrew's other programs on the host use, as long as they have files there.
func (h *host) removeFiles(state func() error) error {
	errs := []error{h.removeAll(other), state()}
	if h.fs.Changeable(path.Join(usual, binary)) == nil {
		errs = append(errs, h.removeAll(usual))
	}
	if err := h.fs.Remove(path.Dir(hostconfig.StateDirectory)); !hostfs.IsInUse(err) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// removeState keeps the ledger and the originals if the restoration was not complete, because they are the only copies.
func (h *host) removeState(restored bool) error {
	l, err := h.store().Load()
	if err != nil && restored {
		return err
	}
	if !restored || !slices.ContainsFunc(l.Sorted(), isWorthKeeping) {
		return h.removeAll(hostconfig.StateDirectory)
	}
	h.log.Warn("Not everything could be restored, so the originals stay", "directory", hostconfig.StateDirectory)
	names, err := h.fs.Names(hostconfig.StateDirectory)
	for _, name := range names {
		if !slices.Contains(ledger.Files, name) {
			err = errors.Join(err, h.removeAll(path.Join(hostconfig.StateDirectory, name)))
		}
	}
	return err
}

// isWorthKeeping is false for a directory that opcrew created, and that stays because others use it.
func isWorthKeeping(r ledger.Record) bool {
	return r.Kind != ledger.Path || r.Before.Type != hostfs.Absent || r.Written.Type != hostfs.Directory
}

func (h *host) store() *ledger.Store { return ledger.NewStore(h.fs, hostconfig.StateDirectory) }
