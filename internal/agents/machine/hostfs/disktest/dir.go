// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package disktest

import (
	"errors"
	"io"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

type dir struct {
	disk *Disk
	at   *node
}

func (d *dir) Close() error { return nil }

func (d *dir) get(name string) (*node, error) {
	if name == "." {
		return d.at, nil
	}
	if n, found := d.at.names[name]; found {
		return n, nil
	}
	return nil, unix.ENOENT
}

func (d *dir) Stat(name string) (hostfs.Info, error) {
	n, err := d.get(name)
	if err != nil {
		return hostfs.Info{}, err
	}
	return n.info(), nil
}

func (n *node) info() hostfs.Info {
	return hostfs.Info{Entry: n.live.Entry, ID: [2]uint64{1, n.id}, Size: max(n.live.size, int64(len(n.live.content)))}
}

func (d *dir) Names() ([]string, error) { return d.at.sorted(), nil }

func (d *dir) Open(name string) (io.ReadCloser, hostfs.Info, error) {
	n, err := d.get(name)
	switch {
	case err != nil:
		return nil, hostfs.Info{}, err
	case n.live.Type == hostfs.Link:
		return nil, hostfs.Info{}, unix.ELOOP
	case n.live.Type != hostfs.File:
		return nil, hostfs.Info{}, errors.New(name + " is not a regular file")
	}
	if n.live.size > 0 {
		return io.NopCloser(endless{}), n.info(), nil
	}
	return io.NopCloser(strings.NewReader(n.live.content)), n.info(), nil
}

// endless is the content of a sparse file.
type endless struct{}

func (endless) Read(buffer []byte) (int, error) { return len(buffer), nil }

func (d *dir) Writable(name string) error {
	if d.isFixed(name) {
		return errors.New("it is immutable")
	}
	if n, err := d.get(name); err == nil && n.live.mounted && n.live.Type != hostfs.Directory {
		return errors.New("it is a mount point")
	}
	return nil
}

// isFixed reports whether a name cannot be changed.
func (d *dir) isFixed(name string) bool {
	n, err := d.get(name)
	return d.at.live.fixed || err == nil && n.live.fixed
}

// add gives a new node a name.
func (d *dir) add(name string, n *node) error {
	if err := d.disk.Call(); err != nil {
		return err
	}
	if _, taken := d.at.names[name]; taken {
		return unix.EEXIST
	}
	if d.at.live.fixed {
		return unix.EPERM
	}
	d.disk.record(change{node: d.at, names: map[string]*node{name: n}})
	return nil
}

// create returns a node with the label of the directory, as SELinux gives it where no rule names another one.
func (d *dir) create(entry hostfs.Entry) *node {
	entry.Label = d.at.live.Label
	return d.disk.node(entry)
}

func (d *dir) Create(name string) (hostfs.Handle, error) {
	n := d.create(hostfs.Entry{Type: hostfs.File, Mode: 0o600})
	return &handle{d.disk, n}, d.add(name, n)
}

func (d *dir) Handle(name string) (hostfs.Handle, error) {
	n, err := d.get(name)
	return &handle{d.disk, n}, err
}

func (d *dir) Mkdir(name string) error {
	return d.add(name, d.create(hostfs.Entry{Type: hostfs.Directory, Mode: 0o700}))
}

func (d *dir) Symlink(target, name string) error {
	return d.add(name, d.create(hostfs.Entry{Type: hostfs.Link, Target: target}))
}

func (d *dir) Link(file, name string) error {
	from, err := d.disk.OpenDir(path.Dir(file))
	if err != nil {
		return err
	}
	n, err := from.(*dir).get(path.Base(file))
	if err != nil {
		return err
	}
	return d.add(name, n)
}

func (d *dir) Rename(name, to string) error {
	if err := d.disk.Call(); err != nil {
		return err
	}
	n, err := d.get(name)
	if err != nil {
		return err
	}
	old, exists := d.at.names[to]
	isDir := n.live.Type == hostfs.Directory
	switch {
	case d.isFixed(name) || d.isFixed(to):
		return unix.EPERM
	case n.live.mounted || exists && old.live.mounted:
		return unix.EBUSY
	case exists && isDir && old.live.Type != hostfs.Directory:
		return unix.ENOTDIR
	case exists && !isDir && old.live.Type == hostfs.Directory:
		return unix.EISDIR
	case old == n: // the kernel leaves both names of one file
		return nil
	}
	d.disk.record(change{node: d.at, names: map[string]*node{name: nil, to: n}})
	return nil
}

func (d *dir) Remove(name string, directory bool) error {
	if err := d.disk.Call(); err != nil {
		return err
	}
	n, err := d.get(name)
	switch {
	case err != nil:
		return err
	case d.isFixed(name):
		return unix.EPERM
	case n.live.mounted:
		return unix.EBUSY
	case directory != (n.live.Type == hostfs.Directory):
		return unix.EISDIR
	case len(n.names) > 0:
		return unix.ENOTEMPTY
	}
	d.disk.record(change{node: d.at, names: map[string]*node{name: nil}})
	return nil
}

func (d *dir) Sync() error {
	err := d.disk.call(true)
	if err == nil {
		d.disk.sync(d.at)
	}
	return err
}

func (d *dir) SyncAll() error {
	err := d.disk.call(true)
	if err == nil {
		d.disk.Sync()
	}
	return err
}
