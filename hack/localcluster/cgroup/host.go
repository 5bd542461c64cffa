// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// host returns the cgroup that is the root cgroup of a node's own operating system.
func host(machine string) string { return filepath.Join(Group(machine), "host") }

// CreateHost creates the root cgroup for a boot of a node's operating system, and removes the cgroups of an earlier
// boot. A new boot must not find the limits that the earlier one set.
func CreateHost(ctx context.Context, machine string) error {
	if err := remove(ctx, host(machine)); err != nil {
		return err
	}
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := h.create(host(machine)); err != nil {
			return fmt.Errorf("create the cgroup for the operating system of %s: %w", machine, err)
		}
	}
	return nil
}

// EnterHost moves the calling process into the cgroup that CreateHost created, and makes it the root of a new cgroup
// namespace. The caller must have locked its thread.
func EnterHost(machine string) error {
	if err := join(host(machine)); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("create a cgroup namespace: %w", err)
	}
	return nil
}

// Mount mounts the hierarchies of this machine below root, in the layout of this machine. Only the cgroups of the
// calling thread's cgroup namespace are visible there.
func Mount(root string) error {
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	all := parseHierarchies(string(data))
	if len(all) != 1 || all[0].path != top {
		if err := unix.Mount("tmpfs", root+top, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755"); err != nil {
			return fmt.Errorf("mount the folder of the cgroup hierarchies: %w", err)
		}
	}
	for _, h := range all {
		if err := h.mount(root + h.path); err != nil {
			return fmt.Errorf("mount the cgroup hierarchy %s: %w", h.path, err)
		}
	}
	return nil
}

const top = "/sys/fs/cgroup"

func (h hierarchy) mount(target string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	kind := "cgroup"
	if h.v2 {
		kind = "cgroup2"
	}
	return unix.Mount(kind, target, kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, h.controllers())
}

// controllers returns the mount options that select a hierarchy of cgroup version 1: its controllers or its name.
func (h hierarchy) controllers() string {
	if h.v2 {
		return ""
	}
	var selected []string
	for option := range strings.SplitSeq(h.options, ",") {
		switch option {
		case "rw", "ro", "relatime", "noatime", "nosuid", "nodev", "noexec", "":
		default:
			if !strings.HasPrefix(option, "release_agent=") {
				selected = append(selected, option)
			}
		}
	}
	return strings.Join(selected, ",")
}
