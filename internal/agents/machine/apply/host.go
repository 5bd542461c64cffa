// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/sysctl"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
)

// Host is the host that the package changes.
type Host struct {
	FS     *hostfs.FS
	Store  *ledger.Store
	Units  units.Manager
	Kernel sysctl.Kernel
	// UpdateBoot runs update-grub.
	UpdateBoot func(ctx context.Context) error
	// SetLabels runs restorecon, which has the path program.
	SetLabels func(ctx context.Context, program string, paths []string) error
	// LockUsers takes the lock of /etc/shadow, and returns a function that releases it.
	LockUsers func(ctx context.Context) (unlock func(), err error)
}
