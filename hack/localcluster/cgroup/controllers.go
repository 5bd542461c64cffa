// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// On cgroup version 2, a kubelet enables controllers for its own cgroup and all parents, up to this machine's root
// cgroup. `localcluster up` records which controllers were enabled before, so that `localcluster down` can disable the
// others. On cgroup version 1 there is nothing to record.

const controllersFile = "cgroup.subtree_control"

// Controllers returns the controllers that this machine's root cgroup enables for its children.
func Controllers() ([]string, error) {
	h, ok, err := unified()
	if err != nil || !ok {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(h.path, controllersFile))
	if err != nil {
		return nil, fmt.Errorf("read the enabled cgroup controllers: %w", err)
	}
	return strings.Fields(string(data)), nil
}

// RestoreControllers disables all controllers except those in before. It also keeps each controller that another cgroup
// of this machine now uses.
func RestoreControllers(before []string) error {
	h, ok, err := unified()
	if err != nil || !ok {
		return err
	}
	now, err := Controllers()
	if err != nil {
		return err
	}
	for _, c := range added(before, now) {
		_ = os.WriteFile(filepath.Join(h.path, controllersFile), []byte("-"+c), 0)
	}
	return nil
}

func added(before, now []string) []string {
	return slices.DeleteFunc(slices.Clone(now), func(c string) bool { return slices.Contains(before, c) })
}

func unified() (hierarchy, bool, error) {
	all, err := hierarchies()
	if err != nil {
		return hierarchy{}, false, err
	}
	i := slices.IndexFunc(all, func(h hierarchy) bool { return h.v2 })
	if i < 0 {
		return hierarchy{}, false, nil
	}
	return all[i], true, nil
}
