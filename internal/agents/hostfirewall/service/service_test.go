// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package service

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestTheDirectoryIsFoundThroughAbsoluteLinksOfTheHost(t *testing.T) {
	root := t.TempDir()
	if _, err := openIn(root, "/var/lib/opcrew-firewall"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("expected no directory, got %v", err)
	}
	real := filepath.Join(root, "data/lib/opcrew-firewall")
	if err := os.MkdirAll(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(real, "order"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/data", filepath.Join(root, "var")); err != nil {
		t.Fatal(err)
	}
	dir, err := openIn(root, "/var/lib/opcrew-firewall")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if names, err := dir.Readdirnames(-1); err != nil || len(names) != 1 || names[0] != "order" {
		t.Errorf("expected the directory of the host, got %q, %v", names, err)
	}
}
