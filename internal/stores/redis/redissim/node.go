// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import "time"

// node is a running simulated server.
type node struct {
	Process
	*folder
	world  *World
	run    string
	users  map[string][]string
	config map[string]string
	// synced reports that the replica is in sync with its primary. linked reports that it has been in sync at least
	// once since it started or got this primary. looks counts how often this server was read since it got its primary,
	// or since that primary was last unreachable.
	synced bool
	linked bool
	looks  int
	// barred reports that replicas may not copy this server yet. source is the address that a replica copies.
	barred bool
	source string
	// silent holds the time at which each unreachable server became silent, by server ID. banned holds the time until
	// which each forgotten server is ignored, by server ID. meets holds the addresses of servers to meet.
	silent map[string]time.Time
	meets  []string
	banned map[string]time.Time
	// jobs holds the slot migrations from this server, the latest first.
	jobs []*job
	// tasks holds the slot migrations to this server, the latest first.
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

// heard deletes the records of silent and forgotten servers.
func (n *node) heard() { n.silent, n.banned = map[string]time.Time{}, map[string]time.Time{} }

// reach returns a known server if it runs at its known address; otherwise nil.
func (n *node) reach(p *peer) *node {
	if other := n.world.running[p.address]; other != nil && other.id == p.id && other.Cluster == n.Cluster {
		return other
	}
	return nil
}

// failing reports whether another server has been silent for longer than the timeout.
func (n *node) failing(id string) bool {
	since, is := n.silent[id]
	return is && time.Since(since) >= n.world.timeout()
}

// ok reports whether the server considers the cluster up: most primaries with slots answer this server.
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

// follow makes the server a replica, without slots of its own.
func (n *node) follow(id string) {
	n.slots.takeAll(n.slots)
	n.primary, n.synced, n.linked, n.looks = id, false, false, 0
	n.source = n.addressOf(id)
	clear(n.migrating)
	clear(n.importing)
}

// promote makes the replica the primary of its shard.
func (n *node) promote() {
	if old := n.peers[n.primary]; old != nil {
		n.slots.addAll(old.slots)
		old.slots = set{}
	}
	n.primary, n.synced = "", false
	n.bump()
}
