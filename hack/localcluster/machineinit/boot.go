// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/kernelfiles"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// boot sets up the machine in its namespaces. The control plane uses this host's files, and so does the machine of a
// node with systemd, because package hostboot gives the node a root of its own. Any other node gets a copy-on-write
// root, so that changes that pods and commands make to "the host" stay on the node.
func boot(st *state.State, name string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	sharesFiles := name == state.ControlPlaneName || st.Systemd(name)
	if !sharesFiles {
		if err := newRoot(st, name); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if sharesFiles {
		return nil
	}
	bootID := kernelfiles.NewBootID()
	if err := kernelfiles.Cover("", "/run/kernel", kernelfiles.Values(bootID)); err != nil {
		return err
	}
	if err := state.WriteFile(st.BootIDFile(name), []byte(bootID), 0o644); err != nil {
		return err
	}
	// The kubelet can propagate mounts to pods only if the node's mounts are shared.
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

func mkdirs(mode os.FileMode, paths ...string) error {
	for _, p := range paths {
		if err := os.MkdirAll(p, mode); err != nil {
			return err
		}
	}
	return nil
}
