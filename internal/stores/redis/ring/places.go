// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

func (ps processes) home(i int) *proc { return ps.all[2*i] }

// guest returns the server that should replicate shard i: the second server (guest) of the pod after pod i.
func (ps processes) guest(i int) *proc { return ps.all[2*host(i, ps.nodes)+1] }

// other returns the server of shard i that is not its primary.
func (ps processes) other(i int, leader *proc) *proc {
	if leader == ps.home(i) {
		return ps.guest(i)
	}
	return ps.home(i)
}

// leader returns the server that is the primary of shard i, or should become it; nil if that is not known. A home
// server (the shard's usual primary) without slots is the primary of an empty shard.
func (ps processes) leader(i int) *proc {
	home, guest := ps.home(i), ps.guest(i)
	for _, p := range []*proc{home, guest} {
		if p.leads() {
			return p
		}
	}
	switch {
	case home.idle():
		return home
	case home.answers && guest.idle(): // the home server follows another shard for now
		return guest
	}
	return nil
}

// shards returns the primaries of all shards, and whether each shard has one.
func (ps processes) shards() (leaders []*proc, all bool) {
	for i := range ps.nodes {
		if leader := ps.leader(i); leader != nil {
			leaders = append(leaders, leader)
		}
	}
	return leaders, len(leaders) == ps.nodes
}

// covered reports whether each shard has a primary that answers: a slot owner, or an empty server with a replica. An
// empty server without a replica may have replaced a lost primary that had data. The result is false while two
// primaries claim the same slots.
func (ps processes) covered() bool {
	var claimed []int
	for _, p := range ps.leaders() {
		claimed = append(claimed, p.status.Slots.Numbers()...)
	}
	missing := len(ps.all)/2 - len(ps.leaders())
	for i := range ps.nodes {
		home := ps.home(i)
		if home.primary() && len(home.status.Slots) == 0 && len(ps.followers(home.id())) > 0 {
			missing--
		}
	}
	return missing <= 0 && redis.SlotsOf(claimed...).Len() == len(claimed)
}

// handsOver reports whether a primary is about to hand over to its replica, because its pod will be stopped. A replica
// that is not in sync cannot take over. In a surplus pod, the primary gives its slots away instead.
func (ps processes) handsOver(p *proc) bool {
	if !p.yields || p.Place != redis.Home || !p.leads() || p.leaves {
		return false
	}
	guest := ps.guest(p.Pod)
	return guest != p && guest.follows(p.id()) && guest.status.LinkUp
}
