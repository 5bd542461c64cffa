// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

// learn takes over what another server reports about itself.
func (n *node) learn(other *node) {
	p := n.peers[other.id]
	n.current = max(n.current, other.current)
	epoch := other.reported()
	if p.primary == "" && other.primary != "" && p.epoch > epoch {
		// Like Valkey 9.1, n ignores that a known primary has become a replica if the report has a lower epoch.
		return
	}
	p.epoch, p.primary = epoch, other.primary
	if other.primary != "" {
		p.slots = set{}
		return
	}
	if n.primary == "" && n.epoch == other.epoch && n.id < other.id {
		n.bump()
	}
	n.concede(p, other.slots)
}

// reported returns the epoch in the server's reports. A replica reports the epoch of its primary.
func (n *node) reported() uint64 {
	if primary := n.peers[n.primary]; n.primary != "" && primary != nil {
		return primary.epoch
	}
	return n.epoch
}

// concede gives up slots that another server claims with a higher epoch. Slots that this server is importing stay
// unchanged.
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
	n.replaced(p, claimed, lost)
}

// replaced handles slots that this server's shard has lost to another server p. If p claims exactly the slots of this
// shard, p has won an election, and this server becomes its replica. Otherwise this server deletes the keys of these
// slots.
func (n *node) replaced(p *peer, claimed, lost set) {
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

// catchUp makes a replica copy its primary.
func (n *node) catchUp() {
	if n.primary == "" {
		return
	}
	p := n.peers[n.primary]
	if p != nil && p.primary != "" && p.primary != n.id && n.peers[p.primary] != nil { // its primary is a replica now
		n.primary = p.primary
		p = n.peers[n.primary]
		n.source = n.addressOf(n.primary)
	}
	if p == nil || n.reach(p) == nil || n.reach(p).primary != "" {
		n.synced, n.looks = false, 0
		n.copyWrong()
		return
	}
	if !n.synced && !n.reach(p).barred && n.looks >= n.world.SyncLooks {
		n.copy(n.reach(p))
	}
}

// copyWrong makes a replica copy the server that now has its primary's address. Real servers make the same mistake,
// because they do not check the ID.
func (n *node) copyWrong() {
	other := n.world.running[n.source]
	if other == nil || other.Cluster != n.Cluster || other.id == n.primary || other.primary != "" || other.barred {
		return
	}
	n.world.violated(n.Cluster, "%s copied %s, which has the address of its primary %s", n.Address, other.Address, n.primary)
	n.copy(other)
}
