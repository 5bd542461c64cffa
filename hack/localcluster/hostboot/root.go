// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// enterRoot makes the node's disk the root of this process. All mounts on it exist only in the namespace of this boot.
func enterRoot(st *state.State, name, bootID, terminal string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	root := st.HostDir(name)
	if err := unix.Mount(root, root, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind the root of %s: %w", name, err)
	}
	if err := mountAll(st, root, bootID, terminal); err != nil {
		return err
	}
	if err := pivot(root); err != nil {
		return err
	}
	// The kubelet can propagate mounts to pods only if the node's mounts are shared.
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

func mountAll(st *state.State, root, bootID, terminal string) error {
	run := filepath.Join(root, "run")
	if err := unix.Mount("tmpfs", run, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	if err := mountKernel(root, bootID); err != nil {
		return err
	}
	if err := mountDevices(root, terminal); err != nil {
		return err
	}
	return shareState(st, root)
}

// shareState mounts the state directory at the same path as on this machine, but without the mounts below it. The
// node's units use its binaries and credentials.
func shareState(st *state.State, root string) error {
	inside := filepath.Join(root, st.Dir)
	if err := os.MkdirAll(inside, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(st.Dir, inside, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", st.Dir, err)
	}
	return nil
}

func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	// pivot_root mounts the old root over the new root, so the old root can be unmounted.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the old root: %w", err)
	}
	return os.Chdir("/")
}
