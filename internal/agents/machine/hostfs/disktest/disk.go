// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package disktest

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

// ErrCrashed is the error of every writing call after a crash.
var ErrCrashed = errors.New("the process has crashed")

// Disk is a model of a disk. It is a hostfs.Disk.
type Disk struct {
	root *node
	// pending lists the changes that are not on disk yet, in their order.
	pending []change
	ids     uint64
	// calls counts writing calls; from call crash on they fail. 0 means never.
	calls, crash int
	// atSync is set if the first call that failed was to sync.
	atSync bool
}

// node is an inode as running processes see it, and as it is on disk.
type node struct {
	id         uint64
	live, disk attributes
	names      map[string]*node // of a directory
	diskNames  map[string]*node
}

type attributes struct {
	hostfs.Entry
	content string
	// fixed is set for an immutable entry, and mounted for a mount point.
	fixed, mounted bool
	// size is that of a sparse file; 0 for the length of the content.
	size int64
}

// change is one change that a power loss may lose: of the attributes of a node, or of names in a directory.
type change struct {
	node  *node
	alter func(a *attributes)
	names map[string]*node // nil for a removed name
}

// New returns an empty disk.
func New() *Disk {
	d := &Disk{}
	d.root = d.node(hostfs.Entry{Type: hostfs.Directory, Mode: 0o755})
	d.Sync()
	return d
}

func (d *Disk) node(entry hostfs.Entry) *node {
	d.ids++
	a := attributes{Entry: entry}
	return &node{id: d.ids, live: a, disk: a, names: map[string]*node{}, diskNames: map[string]*node{}}
}

// Crash lets n more writing calls succeed, and then fails all of them until Restart.
func (d *Disk) Crash(n int) { d.calls, d.crash = 0, n+1 }

// AtSync reports whether the call that the crash prevented would have synced something. Only before such a call, and at
// the end, a power loss permits states that it does not permit one call later.
func (d *Disk) AtSync() bool { return d.atSync }

// Restart lets writing calls succeed again.
func (d *Disk) Restart() { d.calls, d.crash = 0, 0 }

// Calls returns the number of writing calls since the last Crash or Restart.
func (d *Disk) Calls() int { return d.calls }

// Call counts a writing call of another fake that shares the fate of the process. It fails after a crash.
func (d *Disk) Call() error { return d.call(false) }

func (d *Disk) call(syncs bool) error {
	d.calls++
	if d.calls == d.crash {
		d.atSync = syncs
	}
	if d.crash > 0 && d.calls >= d.crash {
		return ErrCrashed
	}
	return nil
}

// Pause lets writing calls succeed without counting them, for a program that a crash of the process does not stop. The
// returned function ends that.
func (d *Disk) Pause() (resume func()) {
	calls, crash := d.calls, d.crash
	d.Restart()
	return func() { d.calls, d.crash = calls, crash }
}

// Sync writes everything to disk.
func (d *Disk) Sync() {
	for _, c := range d.pending {
		c.apply()
	}
	d.pending = nil
}

func (c change) apply() {
	if c.alter != nil {
		c.alter(&c.node.disk)
	}
	setNames(c.node.diskNames, c.names)
}

func setNames(names, changes map[string]*node) {
	for name, to := range changes {
		names[name] = to
		if to == nil {
			delete(names, name)
		}
	}
}

// record makes a change visible, and remembers that it is not on disk.
func (d *Disk) record(c change) {
	if c.alter != nil {
		c.alter(&c.node.live)
	}
	setNames(c.node.names, c.names)
	d.pending = append(d.pending, c)
}

// sync writes the changes of one node to disk.
func (d *Disk) sync(n *node) {
	d.pending = slices.DeleteFunc(d.pending, func(c change) bool {
		if c.node == n {
			c.apply()
		}
		return c.node == n
	})
}

// find resolves a path without following links.
func (d *Disk) find(path string) (*node, error) {
	at := d.root
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch next, found := at.names[part]; {
		case part == "":
		case at.live.Type == hostfs.Link:
			return nil, unix.ELOOP
		case at.live.Type != hostfs.Directory:
			return nil, unix.ENOTDIR
		case !found:
			return nil, unix.ENOENT
		default:
			at = next
		}
	}
	return at, nil
}

// OpenDir opens a directory.
func (d *Disk) OpenDir(path string) (hostfs.Dir, error) {
	n, err := d.find(path)
	switch {
	case err != nil:
		return nil, err
	case n.live.Type == hostfs.Link:
		return nil, unix.ELOOP
	case n.live.Type != hostfs.Directory:
		return nil, unix.ENOTDIR
	}
	return &dir{d, n}, nil
}

// names returns the sorted names in a directory.
func (n *node) sorted() []string { return slices.Sorted(maps.Keys(n.names)) }
