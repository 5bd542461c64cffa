// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"fmt"
	"path"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/selinux"
)

// labeller sets the SELinux labels of what steps created.
type labeller struct{ *Host }

// set lets the policy of the host set the labels of paths, and writes them to disk, because restorecon does not.
// It leaves out, and returns in notes, what another program or user put in their place.
func (h labeller) set(ctx context.Context, paths []string) (notes []string, err error) {
	host, err := selinux.Detect(h.FS)
	if err != nil {
		return nil, err
	}
	ours, notes := h.present(paths)
	if len(ours) == 0 {
		return notes, nil
	}
	if err := h.SetLabels(ctx, host.Program, ours); err != nil {
		return notes, err
	}
	return notes, h.sync(ours)
}

// present returns the paths that exist and are not behind links, which restorecon would follow.
func (h labeller) present(paths []string) (ours, notes []string) {
	for _, p := range paths {
		exists, err := h.FS.CanLabel(p)
		if err != nil {
			notes = append(notes, fmt.Sprintf("the SELinux label of %s stays as it is: %v", p, err))
		}
		if exists {
			ours = append(ours, p)
		}
	}
	return ours, notes
}

// sync writes whole file systems, because the attributes of a link cannot be written alone.
func (h labeller) sync(paths []string) error {
	done := map[string]bool{}
	for _, p := range paths {
		dir := path.Dir(p)
		if done[dir] {
			continue
		}
		if err := h.FS.SyncAll(dir); err != nil && !hostfs.IsBehindLink(err) {
			return err
		}
		done[dir] = true
	}
	return nil
}
