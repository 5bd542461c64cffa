// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import "time"

// rounds is the number of rounds after which news has reached every server that can be reached.
const rounds = 4

// gossip lets the servers of a cluster exchange news, elect primaries, and copy data from them.
func (w *World) gossip(cluster string) {
	nodes := w.of(cluster)
	for range rounds {
		for _, n := range nodes {
			n.greet()
		}
		for _, n := range nodes {
			n.call()
		}
	}
	for _, n := range nodes {
		n.elect()
	}
	for _, n := range nodes {
		n.call()
	}
	for _, n := range nodes {
		n.catchUp()
	}
	w.judge(cluster, nodes)
}

// greet introduces the server to the servers that it was instructed to meet. Each of them accepts, unless one of the
// two has recently forgotten the other.
func (n *node) greet() {
	for _, address := range n.meets {
		other := n.world.running[address]
		if other == nil || other == n {
			continue
		}
		if other.Cluster != n.Cluster {
			n.world.violated(n.Cluster, "%s was introduced to %s of cluster %s", n.Address, address, other.Cluster)
			continue
		}
		if now := time.Now(); now.Before(n.banned[other.id]) || now.Before(other.banned[n.id]) {
			continue
		}
		n.know(other)
		other.know(n)
	}
	n.meets = nil
}

func (n *node) know(other *node) {
	p := n.peers[other.id]
	if p == nil {
		p = &peer{id: other.id}
		n.peers[other.id] = p
	}
	if p.address == other.Address {
		return // like Redis, n then does not compare the address that it copies (redis/redis#13572)
	}
	p.address = other.Address
	if p.id == n.primary {
		n.source = p.address
	}
}

// call exchanges news with all known servers. A server ignores callers that it does not know.
func (n *node) call() {
	for _, p := range n.known() {
		if n.peers[p.id] != p {
			continue // an earlier exchange in this loop has removed this server
		}
		other := n.reach(p)
		if other == nil {
			n.miss(p)
			continue
		}
		delete(n.silent, p.id)
		n.learn(other)
		if other.peers[n.id] != nil {
			other.know(n)
			other.learn(n)
		}
		n.hearOfOthers(other)
	}
}

// miss records that a known server is silent. If another server now runs at that server's address, miss deletes the
// address.
func (n *node) miss(p *peer) {
	if other := n.world.running[p.address]; other != nil && other.id != p.id {
		p.address = ""
	}
	if _, is := n.silent[p.id]; !is {
		n.silent[p.id] = time.Now()
	}
}

// hearOfOthers makes n read the node table of another server. n will introduce itself to each server that the other
// server can reach and that n does not know. If n knows a server but cannot reach it, n takes its address from the
// table.
func (n *node) hearOfOthers(other *node) {
	for _, p := range other.known() {
		if p.id == n.id || other.reach(p) == nil || time.Now().Before(n.banned[p.id]) {
			continue
		}
		mine := n.peers[p.id]
		switch {
		case mine == nil:
			n.meets = append(n.meets, p.address)
		case n.reach(mine) == nil:
			mine.address = p.address // like Redis, n still copies the old address of its primary
		}
	}
}
