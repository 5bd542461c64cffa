// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestImportsPointDownAndKindsDoNotImportEachOther(t *testing.T) {
	for edge, want := range map[[2]string]bool{
		{"internal/kinds/diva", "internal/kit"}:                           true,
		{"internal/kinds/diva", "internal/kinds/diva/ssh"}:                true,
		{"internal/kinds/diva", "internal/kinds/memcached"}:               false,
		{"internal/kinds", "internal/kinds/diva"}:                         true,
		{"internal/kinds/diva", "internal/kinds"}:                         false,
		{"internal/kit", "internal/kinds/diva"}:                           false,
		{"internal/kinds/etcdcluster", "internal/agents/etcdgate"}:        false,
		{"internal/agents/etcdgate", "internal/podapi/etcdstart"}:         true,
		{"internal/podapi/etcdstart", "internal/agents/etcdgate"}:         false,
		{"internal/stores/prober", "internal/stores/etcd"}:                true,
		{"cmd/opcrew", "internal/agents/etcdgate"}:                        false,
		{"cmd/opcrew-agent", "internal/agents/etcdgate"}:                  true,
		{"internal/portforward", "internal/kit"}:                          false,
		{"internal/nowhere", "api/common"}:                                false,
		{"api/etcd/v1beta2", "api/common"}:                                true,
		{"api/etcd/v1beta2", "internal/kit"}:                              false,
		{"internal/workload", "internal/kit/condition"}:                   true,
		{"internal/agents/redisagent", "internal/stores/redis/elections"}: true,
		{"internal/agents/redisagent", "internal/stores/redis"}:           false,
	} {
		if got := allowed(edge[0], edge[1]); got != want {
			t.Errorf("expected %s importing %s to be allowed: %t, got %t", edge[0], edge[1], want, got)
		}
	}
}

// write creates a Go package in a temporary folder from files, which maps file names to contents.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("package sample\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReferencesAgainstTheBestOrderOfFilesAreCounted(t *testing.T) {
	dir := write(t, map[string]string{
		"top.go":    "func Top() { middle(); bottom() }",
		"middle.go": "func middle() { bottom(); other() }",
		"bottom.go": "type thing struct{}\nfunc (thing) use() {}\nfunc bottom() { limit() }\nfunc other() {}",
		"limits.go": "func limit() { thing{}.use() }",
	})
	found, has, err := measure(dir)
	if err != nil || !has {
		t.Fatal(err)
	}
	// limits.go refers to a type and a method in bottom.go, which refers to one function in limits.go.
	if found.references != 7 || found.upward != 1 {
		t.Errorf("expected 1 of 7 references to point upward, got %d of %d", found.upward, found.references)
	}
	if found.files != 4 || found.exported != 1 || found.largest != "thing" || found.methods != 1 {
		t.Errorf("expected 4 files, 1 exported function and 1 method of thing, got %+v", found)
	}
}

// tree creates a directory tree in a temporary folder from files, which maps paths to contents.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
