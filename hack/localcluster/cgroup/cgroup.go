// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup keeps all processes of the cluster in one cgroup tree, on version 1,
// hybrid and version 2 machines. The tree limits nothing; it identifies leftovers: a
// process in it belongs to the cluster, whatever its pid.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Root is the tree's name below each hierarchy. Kubelets get Root/NODE as
// their root, so that they do not delete each other's pods' groups.
const Root = "/opcrew-localcluster"

// Group is a machine's part of the tree, as a path below the mount points.
func Group(machine string) string { return filepath.Join(Root, machine) }

// hierarchy is a mounted cgroup file system.
type hierarchy struct {
	path string
	v2   bool
}

func hierarchies() ([]hierarchy, error) {
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	all := parseHierarchies(string(data))
	if len(all) == 0 {
		return nil, errors.New("no cgroup file system is mounted; mount one at /sys/fs/cgroup")
	}
	return all, nil
}

func parseHierarchies(mounts string) []hierarchy {
	var all []hierarchy
	for line := range strings.SplitSeq(mounts, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || !strings.HasPrefix(f[1], "/sys/fs/cgroup") {
			continue
		}
		if f[2] == "cgroup" || f[2] == "cgroup2" {
			all = append(all, hierarchy{path: f[1], v2: f[2] == "cgroup2"})
		}
	}
	return all
}

// Create creates the groups of a machine in every hierarchy: one as the parent of
// pods, and in it the group of the machine's own processes.
func Create(machine string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := h.create(system(machine)); err != nil {
			return fmt.Errorf("control group of %s: %w", machine, err)
		}
	}
	return nil
}

// Join moves the calling process into the machine's own group everywhere.
func Join(machine string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		file := filepath.Join(h.path, system(machine), "cgroup.procs")
		if err := os.WriteFile(file, []byte("0"), 0); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// system is a leaf: version 2 wants no processes in groups that have children.
func system(machine string) string { return filepath.Join(Group(machine), "system") }

// create makes a group and the ones above it. A new cpuset of version 1 admits
// no process until it has CPUs and memory nodes.
func (h hierarchy) create(group string) error {
	path := h.path
	for part := range strings.SplitSeq(strings.Trim(group, "/"), "/") {
		parent := path
		path = filepath.Join(path, part)
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if h.v2 {
			continue
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if err := inherit(parent, path, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func inherit(parent, child, file string) error {
	value, err := os.ReadFile(filepath.Join(parent, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not the cpuset hierarchy
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(child, file), value, 0)
}
