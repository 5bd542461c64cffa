// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Remove kills every process in the cgroups of the cluster, and deletes these cgroups. It repeats both steps until the
// cgroups are gone or ctx ends.
func Remove(ctx context.Context) error { return remove(ctx, Root) }

// RemoveMachine does the same for the cgroups of one machine. It keeps the cgroup above if other machines use it.
func RemoveMachine(ctx context.Context, machine string) error {
	if err := remove(ctx, Group(machine)); err != nil {
		return err
	}
	all, err := hierarchies()
	for _, h := range all {
		_ = os.Remove(filepath.Join(h.path, Root)) // fails if it has children
	}
	return err
}

func remove(ctx context.Context, root string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for {
		left, err := removeOnce(all, root)
		if left == 0 && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cgroups %s cannot be removed, because %d processes in them did not end: %w", root, left, errors.Join(err, ctx.Err()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func removeOnce(all []hierarchy, root string) (left int, err error) {
	for _, h := range all {
		groups, walkErr := h.groups(root)
		if walkErr != nil {
			err = errors.Join(err, walkErr)
			continue
		}
		for _, group := range groups {
			left += killIn(group)
			rmErr := os.Remove(group)
			if rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
				err = errors.Join(err, rmErr)
			}
		}
	}
	return left, err
}

// groups returns the paths of root and all cgroups below it, children before their parents.
func (h hierarchy) groups(root string) ([]string, error) {
	var groups []string
	err := filepath.WalkDir(filepath.Join(h.path, root), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the cgroup does not exist
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			groups = append(groups, path)
		}
		return nil
	})
	slices.Reverse(groups)
	return groups, err
}

func killIn(group string) int {
	thaw(group)
	count := 0
	for _, pid := range processes(group) {
		count++
		// Kill fails if the process is already gone. If the process survives, the caller reports it.
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return count
}

// thaw resumes the paused processes of a cgroup, because on cgroup version 1, paused processes receive no signals.
func thaw(group string) {
	state := filepath.Join(group, "freezer.state")
	if data, err := os.ReadFile(state); err == nil && strings.TrimSpace(string(data)) != "THAWED" {
		_ = os.WriteFile(state, []byte("THAWED"), 0)
	}
}

func processes(group string) []int {
	data, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Exists reports whether a cgroup of the cluster exists.
func Exists() bool {
	all, err := hierarchies()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(h hierarchy) bool {
		_, err := os.Stat(filepath.Join(h.path, Root))
		return err == nil
	})
}
