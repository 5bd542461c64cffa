// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// Shard is the state of one shard.
type Shard struct {
	// Leader is the address of the primary that serves its slots, "" while there is none.
	Leader string
	Slots  redis.Slots
	// Replicas are the addresses of its replicas in sync; Elsewhere reports whether one of them is on another pod than the
	// primary.
	Replicas  []string
	Elsewhere bool
}

// Shards are those of the ring, by the ordinal of the pod that is their home.
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

// Unserved are the slots that no process that answers owns, nor got during the look. See Refused for those whose owner serves
// no client.
func Unserved(view redis.View, wanted Ring) redis.Slots {
	served := view.Passing.Numbers()
	for _, p := range survey(view, wanted).leaders() {
		served = append(served, p.status.Slots.Numbers()...)
	}
	return redis.Slots{{First: 0, Last: redis.SlotCount - 1}}.Without(redis.SlotsOf(served...))
}

// Refused are the slots whose owners answer and consider the cluster down: clients get an error for them. The slots are
// neither lost nor without an owner.
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

// OwnerUnknown are slots that others serve and that a primary knows no owner of, and the name of that primary: it refuses clients
// that ask for them. While slots are moved, only the two ends know some of them for a moment.
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
