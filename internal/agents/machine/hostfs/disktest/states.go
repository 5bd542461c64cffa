// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package disktest

import (
	"maps"
	"path"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

// maxSubsets is up to how many pending changes every subset of them is tried.
const maxSubsets = 4

// PowerLosses calls f with the disk in every state that a power loss now permits. If very many changes are pending, it
// uses those states in which one change, or all but one, are lost, and those in which the changes after one are lost.
func (d *Disk) PowerLosses(f func(after *Disk)) {
	n := len(d.pending)
	if n <= maxSubsets {
		for subset := range 1 << n {
			f(d.after(func(i int) bool { return subset&(1<<i) != 0 }))
		}
		return
	}
	for one := range n {
		f(d.after(func(i int) bool { return i == one }))
		f(d.after(func(i int) bool { return i != one }))
		f(d.after(func(i int) bool { return i < one }))
	}
	f(d.after(func(int) bool { return true }))
}

// after returns a disk on which those of the pending changes are that survive.
func (d *Disk) after(survives func(i int) bool) *Disk {
	out := &Disk{ids: d.ids}
	out.root = d.clone(d.root, survives, map[*node]*node{})
	return out
}

func (d *Disk) clone(n *node, survives func(i int) bool, done map[*node]*node) *node {
	if n == nil || done[n] != nil {
		return done[n]
	}
	out := &node{id: n.id, disk: n.disk, names: map[string]*node{}, diskNames: map[string]*node{}}
	done[n] = out
	names := maps.Clone(n.diskNames)
	for i, c := range d.pending {
		if c.node != n || !survives(i) {
			continue
		}
		if c.alter != nil {
			c.alter(&out.disk)
		}
		setNames(names, c.names)
	}
	for name, below := range names {
		out.names[name] = d.clone(below, survives, done)
	}
	out.live, out.diskNames = out.disk, maps.Clone(out.names)
	return out
}

// Fix makes an entry immutable.
func (d *Disk) Fix(p string) {
	if n, err := d.find(p); err == nil {
		n.live.fixed, n.disk.fixed = true, true
	}
}

// Mount makes an entry a mount point, or an ordinary one again.
func (d *Disk) Mount(p string, mounted bool) {
	if n, err := d.find(p); err == nil {
		n.live.mounted, n.disk.mounted = mounted, mounted
	}
}

// Grow gives a file a size without content, as a sparse file has.
func (d *Disk) Grow(p string, size int64) {
	if n, err := d.find(p); err == nil {
		n.live.size, n.disk.size = size, size
	}
}

// Tree returns every entry below a path, by its path, except what is below a path to skip.
func Tree(fs *hostfs.FS, p, skip string) (map[string]hostfs.Entry, error) {
	out := map[string]hostfs.Entry{}
	return out, walk(fs, p, skip, out)
}

func walk(fs *hostfs.FS, p, skip string, out map[string]hostfs.Entry) error {
	names, err := fs.Names(p)
	for _, name := range names {
		below := path.Join(p, name)
		if below == skip {
			continue
		}
		if out[below], err = fs.Read(below); err != nil {
			return err
		}
		if out[below].Type == hostfs.Directory {
			if err := walk(fs, below, skip, out); err != nil {
				return err
			}
		}
	}
	return err
}
