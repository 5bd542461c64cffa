// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// ErrNoInit reports that a process has no child that is the first process of a pid namespace.
var ErrNoInit = errors.New("no child with a pid namespace of its own")

// NestedInit returns the child of a process that is the first process of a pid namespace of its own.
func NestedInit(parent int) (int, error) {
	own, err := os.Readlink(pidNamespace(parent))
	if err != nil {
		return 0, err
	}
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		stat, err := readStat(pid)
		if err != nil || stat.parent != parent || stat.dead() {
			continue
		}
		if theirs, err := os.Readlink(pidNamespace(pid)); err == nil && theirs != own {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("process %d: %w", parent, ErrNoInit)
}

func pidNamespace(pid int) string { return fmt.Sprintf("/proc/%d/ns/pid", pid) }
