// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup keeps all processes of the cluster in one cgroup tree. It supports cgroup version 1, version 2 and the
// hybrid mode. The tree sets no limits. Its purpose is to find all processes of the cluster, even after a crash: every
// process in the tree belongs to the cluster.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Root is the parent cgroup of all processes of the cluster, relative to the mount point of each cgroup hierarchy. Each
// kubelet gets Root/NODE as its root cgroup, so that no kubelet deletes the cgroups of another kubelet's pods.
const Root = "/opcrew-localcluster"

// Group returns the path of a machine's cgroup, relative to the mount point of a cgroup hierarchy.
func Group(machine string) string { return filepath.Join(Root, machine) }

// hierarchy is a mounted cgroup file system.
type hierarchy struct {
	path    string
	v2      bool
	options string // as /proc/self/mounts shows them
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
		if len(f) < 4 || !strings.HasPrefix(f[1], "/sys/fs/cgroup") {
			continue
		}
		if f[2] == "cgroup" || f[2] == "cgroup2" {
			all = append(all, hierarchy{path: f[1], v2: f[2] == "cgroup2", options: f[3]})
		}
	}
	return all
}

// Create creates the cgroups of a machine in every hierarchy: a parent cgroup for pods, and in it a cgroup for the
// machine's own processes.
func Create(machine string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := h.create(system(machine)); err != nil {
			return fmt.Errorf("create the cgroup of %s: %w", machine, err)
		}
	}
	return nil
}

// Join moves the calling process into the cgroup for the machine's own processes, in every hierarchy.
func Join(machine string) error { return join(system(machine)) }

func join(group string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		file := filepath.Join(h.path, group, "cgroup.procs")
		if err := os.WriteFile(file, []byte("0"), 0); err != nil {
			return fmt.Errorf("join the cgroup: %w", err)
		}
	}
	return nil
}

// system returns the cgroup of a machine's own processes. It is a leaf, because cgroup version 2 allows no processes in
// cgroups that have children.
func system(machine string) string { return filepath.Join(Group(machine), "system") }

// create creates a cgroup and its parents. On cgroup version 1, it also copies the parent's CPUs and memory nodes,
// because a cpuset without CPUs and memory nodes admits no process.
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
		return nil // the file exists only in the cpuset hierarchy
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(child, file), value, 0)
}
