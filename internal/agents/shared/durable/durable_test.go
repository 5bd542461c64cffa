// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAFileIsReplacedDespiteLeftoversOfACrash(t *testing.T) {
	for name, leave := range map[string]func(next, elsewhere string) error{
		"nothing":   func(string, string) error { return nil },
		"half":      func(next, _ string) error { return os.WriteFile(next, []byte("a longer text, of which ha"), 0o400) },
		"a symlink": func(next, elsewhere string) error { return os.Symlink(elsewhere, next) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, elsewhere := filepath.Join(dir, "file"), filepath.Join(dir, "elsewhere")
			must(t, os.WriteFile(path, []byte("old"), 0o600))
			must(t, leave(Next(path), elsewhere))
			must(t, Replace(path, strings.NewReader("new"), 0o755))
			expect(t, path, "new")
			info, err := os.Stat(path)
			must(t, err)
			if info.Mode().Perm() != 0o755 {
				t.Errorf("the mode is %o", info.Mode().Perm())
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("expected nothing but the file, got %v, %v", entries, err)
			}
		})
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	path, broken := filepath.Join(t.TempDir(), "file"), errors.New("broken")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	err := Replace(path, io.MultiReader(strings.NewReader("ne"), iotest.ErrReader(broken)), 0o600)
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	expect(t, path, "old")
	if _, err := os.Lstat(Next(path)); !os.IsNotExist(err) {
		t.Errorf("expected the half file to be removed, got %v", err)
	}
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	err := Replace(filepath.Join(t.TempDir(), "none", "file"), strings.NewReader(""), 0o600)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

func expect(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	must(t, err)
	if string(got) != want {
		t.Errorf("expected %q, got %q", want, got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
