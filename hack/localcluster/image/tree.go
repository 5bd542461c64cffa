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

// Tree holds the files, folders and links of an image.
type Tree struct {
	entries map[string]entry
}

// entry is a file, folder or link in a tree. open is only set for regular files.
type entry struct {
	kind byte
	mode int64
	uid  int
	gid  int
	link string
	size int64
	open func() (io.ReadCloser, error)
}

// usrMerged returns the folders that every current Debian replaces by links into /usr. Older packages still contain
// files in these folders, and newer packages rely on the links.
func usrMerged() []string { return []string{"bin", "lib", "lib64", "sbin"} }

// NewTree returns an empty tree.
func NewTree() *Tree {
	return &Tree{entries: map[string]entry{}}
}

// AddFile adds a file of this host to the tree. The build of the image reads the file.
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

// AddContent adds a regular file with the given content.
func (t *Tree) AddContent(dest string, content []byte, mode int64) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	t.put(dest, entry{kind: tar.TypeReg, mode: mode, size: int64(len(content)), open: open})
}

// AddDir adds a folder.
func (t *Tree) AddDir(dest string, mode int64) {
	t.put(dest, entry{kind: tar.TypeDir, mode: mode})
}

// AddLink adds a symbolic link.
func (t *Tree) AddLink(dest, target string) {
	t.put(dest, entry{kind: tar.TypeSymlink, mode: 0o777, link: target})
}

// Has reports whether the tree has an entry at dest.
func (t *Tree) Has(dest string) bool {
	_, found := t.entries[clean(dest)]
	return found
}

// Read returns the content of the regular file at dest.
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

// MergeUsr moves the files of /lib and similar folders below /usr, and replaces these folders by links into /usr. Then
// packages with either layout work together.
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

// move moves one entry to another path. It replaces an existing entry there, but keeps the entries below an existing
// folder.
func (t *Tree) move(from, to string) {
	e := t.entries[from]
	delete(t.entries, from)
	if e.kind == tar.TypeSymlink && !path.IsAbs(e.link) {
		// A relative link target is relative to the old folder, so make it absolute.
		e.link = path.Join("/", path.Dir(from), e.link)
	}
	t.put(to, e)
}

// put adds an entry and its parent folders.
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

// clean returns a path relative to the tree's root, as the tree stores it.
func clean(dest string) string {
	return strings.TrimPrefix(path.Clean("/"+dest), "/")
}

// WriteTar writes the tree as a tar. Entries are sorted and all times are zero, so that the output is reproducible.
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
