// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// folder is the data directory of a simulated server: its nodes.conf and its data.
type folder struct {
	cluster        string
	id, primary    string // primary is the ID of a replica's primary; empty for a primary
	current, epoch uint64
	slots          set
	peers          map[string]*peer // other servers that this one knows, by ID
	data           map[string]written
	offset         int64
	libraries      map[string]bool // names of the function libraries
	// migrating and importing hold the slots that are being moved, with the ID of the server at the other end.
	migrating, importing map[int]string
}

// written is the value of a key: the serial number of its last write, and its size.
type written struct {
	serial int
	bytes  int64
}

// slotOf returns the slot of a key. Keys are named <slot>/<number>.
func slotOf(key string) int {
	slot, _, _ := strings.Cut(key, "/")
	n, _ := strconv.Atoi(slot) // cannot fail: all keys are named <slot>/<number>
	return n
}

// peer holds what a server knows about another server.
type peer struct {
	id, address, primary string
	epoch                uint64
	slots                set
}

func newID(n int) string { return fmt.Sprintf("%040x", n) }

func (f *folder) leads() bool { return f.primary == "" && !f.slots.empty() }

// known returns the servers that this one knows, sorted by ID.
func (f *folder) known() []*peer {
	out := slices.Collect(maps.Values(f.peers))
	slices.SortFunc(out, func(a, b *peer) int { return compare(a.id, b.id) })
	return out
}

// addressOf returns the known address of another server; "" if there is none.
func (f *folder) addressOf(id string) string {
	if p := f.peers[id]; p != nil {
		return p.address
	}
	return ""
}

// bump raises the server's epoch above all epochs that it knows.
func (f *folder) bump() {
	f.current = max(f.current, f.epoch)
	for _, p := range f.peers {
		f.current = max(f.current, p.epoch)
	}
	f.current++
	f.epoch = f.current
}

// owner returns the ID of a slot's owner, as far as the server knows; "" if it knows none.
func (f *folder) owner(slot int) string {
	if f.slots.has(slot) {
		return f.id
	}
	for id, p := range f.peers {
		if p.slots.has(slot) {
			return id
		}
	}
	return ""
}

// outbid gives the server a higher epoch than all others, so that its claim of an imported slot wins.
func (f *folder) outbid() {
	for _, p := range f.peers {
		if p.epoch >= f.epoch || f.current > f.epoch {
			f.bump()
			return
		}
	}
}

func (f *folder) keysIn(slot int) []string {
	var out []string
	for key := range f.data {
		if slotOf(key) == slot {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

func (f *folder) bytes() int64 {
	var out int64
	for _, value := range f.data {
		out += value.bytes
	}
	return out
}
