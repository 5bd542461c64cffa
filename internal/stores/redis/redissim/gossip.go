// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import "time"

// rounds are enough for news to reach everybody who can be reached.
const rounds = 4

// gossip has the processes of a cluster hear of each other, elect, and catch up.
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

// greet introduces the node to each peer that it was asked to meet. Every peer answers a MEET, except one of Valkey that
// was asked to forget the node a moment ago.
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
	p.address = other.Address
	if p.id == n.primary {
		n.source = p.address
	}
}

// call asks all that it knows how they are. Only who knows the caller listens to it.
func (n *node) call() {
	for _, p := range n.known() {
		if n.peers[p.id] != p {
			continue // forgotten since
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

// miss notes that a peer is silent. Where another process is in its place, its address is not known any more.
func (n *node) miss(p *peer) {
	if other := n.world.running[p.address]; other != nil && other.id != p.id {
		p.address = ""
	}
	if _, is := n.silent[p.id]; !is {
		n.silent[p.id] = time.Now()
	}
}

// hearOfOthers takes from a peer whom it can reach: who is unknown is met, and who was lost is found again.
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
			mine.address = p.address
			if mine.id == n.primary {
				n.source = p.address
			}
		}
	}
}

// learn takes in what a peer says of itself.
func (n *node) learn(other *node) {
	p := n.peers[other.id]
	n.current = max(n.current, other.current)
	p.epoch, p.primary = other.epoch, other.primary
	if other.primary != "" {
		p.slots = set{}
		return
	}
	if n.primary == "" && n.epoch == other.epoch && n.id < other.id {
		n.bump()
	}
	n.concede(p, other.slots)
}

// concede notes slots that a peer claims, where it has the higher epoch. What it has open itself it does not give
// up for a rumour.
func (n *node) concede(p *peer, claimed set) {
	news, lost := claimed, set{}
	news.takeAll(p.slots)
	for _, slot := range news.all() {
		owner := n.owner(slot)
		_, importing := n.importing[slot]
		switch {
		case importing:
			continue
		case owner == n.id && n.epoch < p.epoch:
			n.slots.take(slot)
			lost.add(slot)
		case owner != "" && owner != n.id && n.peers[owner].epoch < p.epoch:
			if owner == n.primary {
				lost.add(slot)
			}
			n.peers[owner].slots.take(slot)
		case owner != "":
			continue
		}
		p.slots.add(slot)
	}
	n.dethroned(p, claimed, lost)
}

// dethroned has it follow who has taken all slots of its shard by an election. Keys of slots that were lost otherwise
// are another's.
func (n *node) dethroned(p *peer, claimed, lost set) {
	if lost.empty() {
		return
	}
	left := n.slots
	if n.primary != "" && n.peers[n.primary] != nil {
		left = n.peers[n.primary].slots
	}
	if left.empty() && claimed == lost {
		n.follow(p.id)
		return
	}
	for key := range n.data {
		if lost.has(slotOf(key)) {
			n.drop(key)
		}
	}
}

// catchUp has a replica copy what its primary has.
func (n *node) catchUp() {
	if n.primary == "" {
		return
	}
	p := n.peers[n.primary]
	if p != nil && p.primary != "" && p.primary != n.id && n.peers[p.primary] != nil { // it follows another itself by now
		n.primary = p.primary
		p = n.peers[n.primary]
		n.source = n.addressOf(n.primary)
	}
	if p == nil || n.reach(p) == nil || n.reach(p).primary != "" {
		n.synced, n.looks = false, 0
		n.copyStranger()
		return
	}
	if !n.synced && !n.reach(p).barred && n.looks >= n.world.SyncLooks {
		n.copy(n.reach(p))
	}
}

// copyStranger has a replica copy who is at the address of its primary by now, as servers do: they never ask who that is.
func (n *node) copyStranger() {
	other := n.world.running[n.source]
	if other == nil || other.Cluster != n.Cluster || other.id == n.primary || other.primary != "" || other.barred {
		return
	}
	n.world.violated(n.Cluster, "%s copied %s, which has the address of its primary %s", n.Address, other.Address, n.primary)
	n.copy(other)
}
