// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// boot sets up the machine in its namespaces. The control plane uses this host's files. A node gets a copy-on-write
// root, so that changes that pods and commands make to "the host" stay on the node.
func boot(st *state.State, name string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if name != state.ControlPlaneName {
		if err := newRoot(st, name); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if name == state.ControlPlaneName {
		return nil
	}
	bootID := newBootID()
	if err := coverKernelFiles(bootID); err != nil {
		return err
	}
	if err := state.WriteFile(st.BootIDFile(name), []byte(bootID), 0o644); err != nil {
		return err
	}
	// The kubelet can propagate mounts to pods only if the node's mounts are shared.
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

// coverKernelFiles mounts files over kernel files that all namespaces share. Each boot of the node has a new boot ID,
// so that the kubelet detects a reboot. The other files already contain the values that the kubelet would set, so that
// the kubelet does not change this host's settings.
func coverKernelFiles(bootID string) error {
	files := map[string]string{
		"/proc/sys/kernel/random/boot_id":     bootID,
		"/proc/sys/kernel/keys/root_maxbytes": "25000000",
		"/proc/sys/kernel/keys/root_maxkeys":  "1000000",
		"/proc/sys/kernel/panic":              "10",
		"/proc/sys/kernel/panic_on_oops":      "1",
		"/proc/sys/vm/overcommit_memory":      "1",
		"/proc/sys/vm/panic_on_oom":           "0",
	}
	for target, value := range files {
		source := filepath.Join("/run/kernel", strings.ReplaceAll(target, "/", "_"))
		if err := state.WriteFile(source, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		err := unix.Mount(source, target, "", unix.MS_BIND, "")
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return fmt.Errorf("cover %s: %w", target, err)
		}
	}
	return nil
}

func newBootID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never returns an error
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func mkdirs(mode os.FileMode, paths ...string) error {
	for _, p := range paths {
		if err := os.MkdirAll(p, mode); err != nil {
			return err
		}
	}
	return nil
}
