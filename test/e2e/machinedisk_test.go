// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// transient are folders in which a running node writes by itself.
var transient = []string{
	"/var/lib/containerd", "/var/lib/kubelet", "/var/lib/cni", "/var/log", "/var/tmp", "/tmp", "/var/lib/systemd", "/run", "/proc", "/sys", "/dev",
}

// tree describes every file on the disk of a node: type, mode, owner and content.
func (c *cluster) tree(t *testing.T, node string) map[string]string {
	t.Helper()
	root := c.disk(t, node)
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		if slices.Contains(transient, name) {
			return fs.SkipDir
		}
		out[name], err = describe(path, entry)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func describe(path string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	owner := info.Sys().(*syscall.Stat_t)
	out := fmt.Sprintf("%v %d:%d", info.Mode(), owner.Uid, owner.Gid)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return out + " " + target, err
	case info.Mode().IsRegular():
		content, err := os.ReadFile(path)
		return fmt.Sprintf("%s %x", out, sha256.Sum256(content)), err
	}
	return out, nil
}

func (c *cluster) trees(t *testing.T, nodes []string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, node := range nodes {
		out[node] = c.tree(t, node)
	}
	return out
}

// wantDisks compares the disks of nodes with what they were, apart from the state of the machine agent.
func (c *cluster) wantDisks(t *testing.T, before map[string]map[string]string) {
	t.Helper()
	for node, tree := range before {
		after := c.tree(t, node)
		for _, files := range []map[string]string{tree, after} {
			maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasPrefix(path, "/var/lib/opcrew/") })
		}
		if diff := cmp.Diff(tree, after); diff != "" {
			t.Errorf("%s: expected the disk as before (-before +after):\n%s", node, diff)
		}
	}
}
