// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import "time"

// node is a running process.
type node struct {
	Process
	*folder
	world  *World
	run    string
	users  map[string][]string
	config map[string]string
	// synced: the replica is in sync with its primary; linked: it has been since it started, or began to follow. looks
	// counts the reads since it started, began to follow, or last could not reach its primary.
	synced bool
	linked bool
	looks  int
	// barred reports that no replica may copy the process yet. source is the address that a replica copies.
	barred bool
	source string
	// silent holds the times since which peers cannot be reached, by ID. meets holds the addresses of peers to meet.
	// banned holds the times until which forgotten peers are ignored, by ID.
	silent map[string]time.Time
	meets  []string
	banned map[string]time.Time
	// jobs holds the slot migrations out of the process, the latest first.
	jobs []*job
	// tasks holds the slot migrations into the process, the latest first.
	tasks     []*task
	redirects int64
}

func (w *World) newFolder(cluster string) *folder {
	w.made++
	return &folder{
		cluster: cluster, id: newID(w.made), peers: map[string]*peer{}, data: map[string]written{}, libraries: map[string]bool{},
		migrating: map[int]string{}, importing: map[int]string{},
	}
}

// heard forgets which peers could not be reached.
func (n *node) heard() { n.silent, n.banned = map[string]time.Time{}, map[string]time.Time{} }

// reach returns the process of a peer if it runs at the known address, otherwise nil.
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

// ok reports whether most of the primaries with slots answer, as far as the process knows.
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

// follow makes the process a replica without slots of its own.
func (n *node) follow(id string) {
	n.slots.takeAll(n.slots)
	n.primary, n.synced, n.linked, n.looks = id, false, false, 0
	n.source = n.addressOf(id)
	clear(n.migrating)
	clear(n.importing)
}

// promote makes the replica the primary in place of its primary.
func (n *node) promote() {
	if old := n.peers[n.primary]; old != nil {
		n.slots.addAll(old.slots)
		old.slots = set{}
	}
	n.primary, n.synced = "", false
	n.bump()
}
