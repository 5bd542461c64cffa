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

// On version 2 a kubelet switches controllers on for all groups above its own,
// up to the root group of this machine. Which ones were on before is kept, so
// that `down` can switch off the others. On version 1 there is nothing to keep.

const controllersFile = "cgroup.subtree_control"

// Controllers are those that are on below the root group.
func Controllers() ([]string, error) {
	h, ok, err := unified()
	if err != nil || !ok {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(h.path, controllersFile))
	if err != nil {
		return nil, fmt.Errorf("control groups: %w", err)
	}
	return strings.Fields(string(data)), nil
}

// RestoreControllers switches off those that were not on before. One that
// another group of this machine has begun to use meanwhile stays on.
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
