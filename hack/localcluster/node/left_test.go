// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build systemd

package node

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/network"
)

// remove ends the node, and fails the test if a process, mount, cgroup or network namespace of it is left.
func (h *host) remove(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, step := range []func() error{
		func() error { return Crash(h.st, h.name) },
		func() error { return cgroup.RemoveMachine(ctx, h.name) },
		func() error { return network.RemoveBridge(h.st) },
	} {
		if err := step(); err != nil {
			t.Fatalf("remove the node: %v", err)
		}
	}
	h.checkNothingLeft(t)
	if err := os.RemoveAll(h.st.Dir); err != nil {
		t.Errorf("remove the state directory: %v", err)
	}
}

func (h *host) checkNothingLeft(t *testing.T) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), h.st.Dir) {
		t.Errorf("mounts are left:\n%s", mounts)
	}
	for pattern, what := range map[string]string{
		"/sys/fs/cgroup/*" + cgroup.Group(h.name): "cgroups", "/sys/fs/cgroup" + cgroup.Group(h.name): "cgroups",
		h.st.NetNSDir() + "/*": "network namespaces",
	} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("%s are left: %v", what, left)
		}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		root, _ := os.Readlink(filepath.Join(p, "root"))
		group, _ := os.ReadFile(filepath.Join(p, "cgroup"))
		if strings.Contains(string(line)+root, h.st.Dir) || strings.Contains(string(group), cgroup.Group(h.name)) {
			t.Errorf("process %s is left: %s", p, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
}
