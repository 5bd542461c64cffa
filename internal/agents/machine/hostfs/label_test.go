// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// labels lets the package keep labels in an attribute that every file system of Linux supports.
func labels(t *testing.T) (*FS, string) {
	t.Helper()
	before := labelKey
	labelKey = "trusted.opcrew"
	t.Cleanup(func() { labelKey = before })
	dir := t.TempDir()
	if err := unix.Setxattr(dir, labelKey, []byte("x"), 0); err != nil {
		t.Skipf("this file system, or this user, cannot set attributes: %v", err)
	}
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return New(root), dir
}

func (f *FS) expectLabel(t *testing.T, p, want string) {
	t.Helper()
	read, err := f.Read(p)
	if err != nil || read.Label != want {
		t.Errorf("%s: expected the label %q, got %q and %v", p, want, read.Label, err)
	}
	if read.Type != File {
		return
	}
	if _, found, err := f.ReadFile(p, 1<<20); err != nil || found.Label != want {
		t.Errorf("%s: expected the label %q with the content, got %q and %v", p, want, found.Label, err)
	}
}

func TestALabelIsThatOfTheFile(t *testing.T) {
	fs, dir := labels(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	file := Entry{Type: File, Mode: 0o600}
	must(fs.WriteFile("/shadow", []byte("old"), file))
	must(unix.Setxattr(filepath.Join(dir, "shadow"), labelKey, []byte("shadow_t"), 0))
	fs.expectLabel(t, "/shadow", "shadow_t")
	must(fs.WriteFile("/shadow", []byte("new"), file))
	fs.expectLabel(t, "/shadow", "shadow_t")
	_, found, err := fs.ReadFile("/shadow", 1<<20)
	must(err)
	must(fs.WriteFile("/shadow", []byte("edited"), found))
	fs.expectLabel(t, "/shadow", "shadow_t")
	must(fs.Change("/shadow", Entry{Type: File, Mode: 0o600, Label: "other_t"}))
	fs.expectLabel(t, "/shadow", "other_t")
	must(fs.MakeDirectory("/dir", Entry{Type: Directory, Mode: 0o700, Label: "dir_t"}))
	fs.expectLabel(t, "/dir", "dir_t")
	must(fs.WriteLink("/link", Entry{Type: Link, Target: "shadow", Label: "link_t"}))
	fs.expectLabel(t, "/link", "link_t")
}
