// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Tree is the content of an image: the files, folders and links of one root.
type Tree struct {
	entries map[string]entry
}

// entry is one path of a tree. open is nil for everything but regular files.
type entry struct {
	kind byte
	mode int64
	uid  int
	gid  int
	link string
	size int64
	open func() (io.ReadCloser, error)
}

// usrMerged are the folders that are links into /usr on every current Debian.
// Older packages still ship files below them, newer ones rely on the links.
func usrMerged() []string { return []string{"bin", "lib", "lib64", "sbin"} }

// NewTree returns a tree that holds nothing yet.
func NewTree() *Tree {
	return &Tree{entries: map[string]entry{}}
}

// AddFile puts the host's file at source into the tree. It is read when the
// image is built, not now.
func (t *Tree) AddFile(dest, source string, mode int64) error {
	info, err := os.Stat(source)
	if err != nil {
		return fmt.Errorf("add %s to the image: %w", dest, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("add %s to the image: %s is not a regular file", dest, source)
	}
	open := func() (io.ReadCloser, error) { return os.Open(source) }
	t.put(dest, entry{kind: tar.TypeReg, mode: mode, size: info.Size(), open: open})
	return nil
}

// AddContent puts a file with the given content into the tree.
func (t *Tree) AddContent(dest string, content []byte, mode int64) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	t.put(dest, entry{kind: tar.TypeReg, mode: mode, size: int64(len(content)), open: open})
}

// AddDir puts a folder into the tree.
func (t *Tree) AddDir(dest string, mode int64) {
	t.put(dest, entry{kind: tar.TypeDir, mode: mode})
}

// AddLink puts a symbolic link into the tree.
func (t *Tree) AddLink(dest, target string) {
	t.put(dest, entry{kind: tar.TypeSymlink, mode: 0o777, link: target})
}

// Has reports whether something is at that path.
func (t *Tree) Has(dest string) bool {
	_, found := t.entries[clean(dest)]
	return found
}

// Read returns the content of a regular file of the tree.
func (t *Tree) Read(dest string) ([]byte, error) {
	e, found := t.entries[clean(dest)]
	if !found || e.open == nil {
		return nil, fmt.Errorf("no regular file %s in the image", dest)
	}
	reader, err := e.open()
	if err != nil {
		return nil, fmt.Errorf("open %s of the image: %w", dest, err)
	}
	defer reader.Close()
	return io.ReadAll(reader)
}

// MergeUsr adds the links from /lib and its like into /usr and moves below
// /usr what was put beside it, so that packages of both layouts fit together.
func (t *Tree) MergeUsr() {
	for _, dir := range usrMerged() {
		for _, name := range slices.Sorted(maps.Keys(t.entries)) {
			if strings.HasPrefix(name, dir+"/") {
				t.move(name, "usr/"+name)
			}
		}
		if t.Has("usr/" + dir) {
			t.AddLink(dir, "usr/"+dir)
		}
	}
}

// move keeps what is already at the new path when both are folders.
func (t *Tree) move(from, to string) {
	e := t.entries[from]
	delete(t.entries, from)
	if e.kind == tar.TypeSymlink && !path.IsAbs(e.link) {
		// A relative target counts from the place that the link leaves.
		e.link = path.Join("/", path.Dir(from), e.link)
	}
	t.put(to, e)
}

// put stores an entry and the folders above it.
func (t *Tree) put(dest string, e entry) {
	name := clean(dest)
	if name == "" {
		return
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, found := t.entries[dir]; !found {
			t.entries[dir] = entry{kind: tar.TypeDir, mode: 0o755}
		}
	}
	t.entries[name] = e
}

// clean is the form in which a tree keeps paths: relative to its root.
func clean(dest string) string {
	return strings.TrimPrefix(path.Clean("/"+dest), "/")
}

// WriteTar writes the tree as a tar in sorted order, with every time at zero.
func (t *Tree) WriteTar(w io.Writer) error {
	out := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		if err := t.entries[name].writeTo(out, name); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return out.Close()
}

func (e entry) writeTo(out *tar.Writer, name string) error {
	header := &tar.Header{
		Typeflag: e.kind, Name: name, Linkname: e.link, Size: e.size,
		Mode: e.mode, Uid: e.uid, Gid: e.gid, ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
	}
	if e.kind == tar.TypeDir {
		header.Name += "/"
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	if e.open == nil {
		return nil
	}
	reader, err := e.open()
	if err != nil {
		return err
	}
	defer reader.Close()
	_, err = io.Copy(out, reader)
	return err
}
