// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/hostos"
	"github.com/opcrew/opcrew/hack/localcluster/kernelfiles"
)

// mountKernel mounts /proc, /sys and the cgroups. Only what belongs to the node's namespaces is writable: the sysctls
// below net, and the cgroups.
func mountKernel(root, bootID string) error {
	const safe = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", filepath.Join(root, "proc"), "proc", safe, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := protect(root, "/proc/sys", "/proc/sys/net"); err != nil {
		return err
	}
	if err := protect(root, "/proc/sysrq-trigger", ""); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	arguments, err := commandLine(root)
	if err != nil {
		return err
	}
	own := map[string]string{"/proc/cmdline": arguments}
	if err := kernelfiles.Cover(root, filepath.Join(root, "run/kernel"), kernelfiles.Values(bootID), own); err != nil {
		return err
	}
	if err := unix.Mount("sysfs", filepath.Join(root, "sys"), "sysfs", safe|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mount /sys: %w", err)
	}
	return cgroup.Mount(root)
}

// protect makes the path below root read-only, except for the path writable.
func protect(root, path, writable string) error {
	target := root + path
	if err := unix.Mount(target, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", path, err)
	}
	if writable != "" {
		if err := unix.Mount(root+writable, root+writable, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind %s: %w", writable, err)
		}
	}
	const flags = unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("", target, "", flags, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", path, err)
	}
	return nil
}

// commandLine returns the simulated kernel arguments, which the node's simulated boot loader has written to the disk.
// They have no effect on the kernel, which all nodes share.
func commandLine(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, hostos.CommandLineFile))
	if err != nil {
		return "", fmt.Errorf("read the simulated kernel arguments; restore the file with update-grub on the node: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
