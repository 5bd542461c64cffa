// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// node is a process that runs.
type node struct {
	Process
	*folder
	world  *World
	run    string
	users  map[string][]string
	config map[string]string
	// synced reports that a replica has what its primary has, and linked that it had it once since it was started or told to
	// follow; looks counts how often it was looked at since then.
	synced bool
	linked bool
	looks  int
	// barred reports that no one may copy it yet, and source is the address of whom a replica copies.
	barred bool
	source string
	// silent are the peers that cannot be reached, and since when; meets are addresses of the peers that it
	// was asked to meet and has not reached yet; banned, by ID, who is not to be heard of again until then.
	silent map[string]time.Time
	meets  []string
	banned map[string]time.Time
	// jobs are the moves of slots that it carries out or has, the last one first.
	jobs []*job
	// tasks are those by which it imports slots, likewise.
	tasks []*task
	// redirects counts the clients that it has redirected.
	redirects int64
}

// folder is what a process keeps: nodes.conf and its data.
type folder struct {
	cluster        string
	id, primary    string // no primary: it is one
	current, epoch uint64
	slots          set
	peers          map[string]*peer // by ID
	data           map[string]written
	offset         int64
	libraries      map[string]bool // of functions, by name
	// migrating and importing are open slots, and the ID of the other end.
	migrating, importing map[int]string
}

// peer is what a process knows of another.
type peer struct {
	id, address, primary string
	epoch                uint64
	slots                set
}

func (w *World) newFolder(cluster string) *folder {
	w.made++
	return &folder{
		cluster: cluster, id: newID(w.made), peers: map[string]*peer{}, data: map[string]written{}, libraries: map[string]bool{},
		migrating: map[int]string{}, importing: map[int]string{},
	}
}

func newID(n int) string { return fmt.Sprintf("%040x", n) }

// heard has it begin without a memory of who could not be reached.
func (n *node) heard() { n.silent, n.banned = map[string]time.Time{}, map[string]time.Time{} }

func (n *node) leads() bool { return n.primary == "" && !n.slots.empty() }

// known are its peers in one order.
func (n *node) known() []*peer {
	out := slices.Collect(maps.Values(n.peers))
	slices.SortFunc(out, func(a, b *peer) int { return compare(a.id, b.id) })
	return out
}

// reach is the process that a peer is, if it can be reached where it is said to be.
func (n *node) reach(p *peer) *node {
	if other := n.world.running[p.address]; other != nil && other.id == p.id && other.Cluster == n.Cluster {
		return other
	}
	return nil
}

// failing reports whether a peer has been silent for too long.
func (n *node) failing(id string) bool {
	since, is := n.silent[id]
	return is && time.Since(since) >= n.world.timeout()
}

// ok reports whether, for all that it knows, most of the primaries that have slots are there.
func (n *node) ok() bool {
	all, there := 0, 0
	if n.leads() {
		all, there = 1, 1
	}
	for id, p := range n.peers {
		if p.primary == "" && !p.slots.empty() {
			all++
			if !n.failing(id) {
				there++
			}
		}
	}
	return all > 0 && there > all/2
}

// follow has it be a replica of another, and hold nothing of its own any more.
func (n *node) follow(id string) {
	n.slots.takeAll(n.slots)
	n.primary, n.synced, n.linked, n.looks = id, false, false, 0
	n.source = n.addressOf(id)
	clear(n.migrating)
	clear(n.importing)
}

// addressOf is where it knows a peer to be, "" for nowhere.
func (n *node) addressOf(id string) string {
	if p := n.peers[id]; p != nil {
		return p.address
	}
	return ""
}

// promote has it take the place of its primary.
func (n *node) promote() {
	if old := n.peers[n.primary]; old != nil {
		n.slots.addAll(old.slots)
		old.slots = set{}
	}
	n.primary, n.synced = "", false
	n.bump()
}

// bump gives it an epoch that is higher than any that it knows.
func (n *node) bump() {
	n.current = max(n.current, n.epoch)
	for _, p := range n.peers {
		n.current = max(n.current, p.epoch)
	}
	n.current++
	n.epoch = n.current
}

// owner is the ID of whom it holds to own a slot, "" for no one.
func (n *node) owner(slot int) string {
	if n.slots.has(slot) {
		return n.id
	}
	for id, p := range n.peers {
		if p.slots.has(slot) {
			return id
		}
	}
	return ""
}
