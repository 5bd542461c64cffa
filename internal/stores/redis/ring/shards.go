// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// Shard holds the state of one shard.
type Shard struct {
	// Leader is the address of the primary that serves the shard's slots; "" while there is none.
	Leader string
	Slots  redis.Slots
	// Replicas are the addresses of the replicas in sync. Elsewhere reports whether at least one of them is on a
	// different pod from the primary.
	Replicas  []string
	Elsewhere bool
}

// Shards returns the shards of the cluster. Shard i is the one whose usual primary is on pod i.
func Shards(view redis.View, wanted Ring) []Shard {
	in := survey(view, wanted)
	out := make([]Shard, max(0, wanted.Nodes))
	for i := range out {
		if leader := in.leader(i); leader != nil {
			out[i] = shard(leader, in.followers(leader.id()))
		}
	}
	return out
}

func shard(leader *proc, followers []*proc) Shard {
	out := Shard{Leader: leader.Address, Slots: leader.status.Slots}
	for _, p := range followers {
		if p.status.LinkUp {
			out.Replicas = append(out.Replicas, p.Address)
			out.Elsewhere = out.Elsewhere || p.Pod != leader.Pod
		}
	}
	return out
}

// Unserved returns the slots that none of the answering servers owns, without slots whose owner changed while the view
// was read. See Refused for slots whose owner refuses clients.
func Unserved(view redis.View, wanted Ring) redis.Slots {
	served := view.Passing.Numbers()
	for _, p := range survey(view, wanted).leaders() {
		served = append(served, p.status.Slots.Numbers()...)
	}
	return redis.Slots{{First: 0, Last: redis.SlotCount - 1}}.Without(redis.SlotsOf(served...))
}

// Refused returns the slots whose owners answer but consider the cluster down. Clients get an error for these slots,
// but their data is not lost.
func Refused(view redis.View, wanted Ring) redis.Slots {
	var refused, served []int
	for _, p := range survey(view, wanted).leaders() {
		if p.status.ClusterOK {
			served = append(served, p.status.Slots.Numbers()...)
			continue
		}
		refused = append(refused, p.status.Slots.Numbers()...)
	}
	return redis.SlotsOf(refused...).Without(redis.SlotsOf(served...))
}

// OwnerUnknown finds a primary that knows no owner of some slots although another primary serves them. It returns these
// slots, and the name of the primary that does not know their owner and so refuses requests for them. While slots are
// being moved, OwnerUnknown returns nothing.
func OwnerUnknown(view redis.View, wanted Ring) (slots redis.Slots, by string) {
	in := survey(view, wanted)
	if view.Moving() {
		return nil, ""
	}
	for _, p := range in.leaders() {
		known := view.Passing.Numbers()
		for _, peer := range p.status.Known {
			known = append(known, peer.Slots.Numbers()...)
		}
		for _, other := range in.leaders() {
			if missing := other.status.Slots.Without(redis.SlotsOf(known...)); len(missing) > 0 {
				return missing, p.String()
			}
		}
	}
	return nil, ""
}
