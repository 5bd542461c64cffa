// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

func (ps processes) home(i int) *proc { return ps.all[2*i] }

// guest returns the process that is to replicate shard i.
func (ps processes) guest(i int) *proc { return ps.all[2*host(i, ps.nodes)+1] }

// other returns the process of shard i that is not its leader.
func (ps processes) other(i int, leader *proc) *proc {
	if leader == ps.home(i) {
		return ps.guest(i)
	}
	return ps.home(i)
}

// leader returns the process that leads shard i, or is to lead it; nil if that is not known. A home without slots is
// the leader of an empty shard.
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
	case home.answers && guest.idle(): // the home follows another shard for now
		return guest
	}
	return nil
}

// shards returns the leaders of the shards of the ring, and whether each shard has a leader.
func (ps processes) shards() (leaders []*proc, all bool) {
	for i := range ps.nodes {
		if leader := ps.leader(i); leader != nil {
			leaders = append(leaders, leader)
		}
	}
	return leaders, len(leaders) == ps.nodes
}

// covered reports whether each shard has a primary that answers: a slot owner, or an empty home that has a replica. An
// empty home without replica may have replaced a lost primary whose replica has the data. While two primaries claim the
// same slots, covered returns false.
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

// handsOver reports whether a primary in its home is about to fail over to its guest, because its pod will be stopped.
// A pod that leaves the ring is emptied instead, and a guest that is not yet in sync with this primary cannot take
// over.
func (ps processes) handsOver(p *proc) bool {
	if !p.yields || p.Place != redis.Home || !p.leads() || p.leaves {
		return false
	}
	guest := ps.guest(p.Pod)
	return guest != p && guest.follows(p.id()) && guest.status.LinkUp
}
