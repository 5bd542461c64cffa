// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// members returns the headers in the tree's tar, in the order in which they are written.
func members(t *testing.T, tree *Tree) []*tar.Header {
	t.Helper()
	var buffer bytes.Buffer
	if err := tree.WriteTar(&buffer); err != nil {
		t.Fatalf("write the tree: %v", err)
	}
	var headers []*tar.Header
	for in := tar.NewReader(&buffer); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return headers
		}
		if err != nil {
			t.Fatalf("read the tar back: %v", err)
		}
		headers = append(headers, header)
	}
}

func TestTreeWritesParentsFirstAndNoTimes(t *testing.T) {
	tree := NewTree()
	tree.AddContent("/b/deep/file", []byte("x"), 0o600)
	tree.AddLink("a", "b")
	var names []string
	for _, header := range members(t, tree) {
		names = append(names, header.Name)
		if header.ModTime.Unix() != 0 || header.Uid != 0 {
			t.Errorf("%s: time %v, owner %d; want zero", header.Name, header.ModTime, header.Uid)
		}
	}
	if want := []string{"a", "b/", "b/deep/", "b/deep/file"}; !slices.Equal(names, want) {
		t.Errorf("members %q, want %q", names, want)
	}
}

func TestTreeRefusesWhatIsNotAFile(t *testing.T) {
	tree := NewTree()
	if err := tree.AddFile("x", t.TempDir(), 0o755); err == nil {
		t.Error("a folder was taken for a binary")
	}
	if err := tree.AddFile("x", filepath.Join(t.TempDir(), "absent"), 0o755); err == nil {
		t.Error("an absent file was taken")
	}
}

func TestTreeNeverWritesOutsideItsRoot(t *testing.T) {
	tree := NewTree()
	tree.AddContent("../../etc/passwd", nil, 0o644)
	if !tree.Has("etc/passwd") || len(tree.entries) != 2 {
		t.Errorf("entries %v, want etc and etc/passwd", tree.entries)
	}
}

func TestMergeUsrMovesFilesAndKeepsRelativeLinksRight(t *testing.T) {
	tree := NewTree()
	tree.AddContent("lib/x86/libold.so", []byte("old"), 0o644)
	tree.AddContent("usr/lib/x86/libnew.so", []byte("new"), 0o644)
	tree.AddLink("lib/x86/libnew.so.1", "../../usr/lib/x86/libnew.so")
	tree.MergeUsr()
	if got := tree.entries["lib"].link; got != "usr/lib" {
		t.Errorf("lib links to %q, want usr/lib", got)
	}
	if content, err := tree.Read("usr/lib/x86/libold.so"); err != nil || string(content) != "old" {
		t.Errorf("moved file: %q, %v", content, err)
	}
	if got := tree.entries["usr/lib/x86/libnew.so.1"].link; got != "/usr/lib/x86/libnew.so" {
		t.Errorf("moved link points to %q", got)
	}
	if tree.Has("bin") {
		t.Error("a link to a folder that is not there was added")
	}
}

func TestTreeFromAHostFileReadsItWhenWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(file, []byte("binary"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := NewTree()
	if err := tree.AddFile("/usr/bin/tool", file, 0o755); err != nil {
		t.Fatal(err)
	}
	headers := members(t, tree)
	last := headers[len(headers)-1]
	if last.Name != "usr/bin/tool" || last.Mode != 0o755 || last.Size != 6 {
		t.Errorf("got %s mode %o size %d", last.Name, last.Mode, last.Size)
	}
}
