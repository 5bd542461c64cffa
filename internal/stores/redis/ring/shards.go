// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// Shard is what has become of one.
type Shard struct {
	// Leader is the address of the primary that serves its slots, "" while no one does.
	Leader string
	Slots  redis.Slots
	// Replicas are the addresses of those that follow it and are in sync; Elsewhere tells
	// whether one of them is on another pod than the primary.
	Replicas  []string
	Elsewhere bool
}

// Shards are those of the ring, by the ordinal of the pod that is their home.
func Shards(view redis.View, wanted Ring) []Shard {
	f := survey(view, wanted)
	out := make([]Shard, max(0, wanted.Nodes))
	for i := range out {
		if leader := f.leader(i); leader != nil {
			out[i] = f.shard(leader)
		}
	}
	return out
}

func (f *facts) shard(leader *proc) Shard {
	out := Shard{Leader: leader.Address, Slots: leader.status.Slots}
	for _, p := range f.followers(leader.id()) {
		if p.status.LinkUp {
			out.Replicas = append(out.Replicas, p.Address)
			out.Elsewhere = out.Elsewhere || p.Pod != leader.Pod
		}
	}
	return out
}

// Unserved are the slots that no one who answers owns, nor has got while they were asked. See Refused for those whose
// owner serves no one.
func Unserved(view redis.View, wanted Ring) redis.Slots {
	served := view.Passing.Numbers()
	for _, p := range survey(view, wanted).leaders() {
		served = append(served, p.status.Slots.Numbers()...)
	}
	return redis.Slots{{First: 0, Last: redis.SlotCount - 1}}.Without(redis.SlotsOf(served...))
}

// Refused are the slots whose owners answer, and hold the cluster to be down: clients get an error for them. They are
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

// Unheard are slots that others serve and that a primary knows no owner of, and who that is: it refuses clients that ask
// it for them. While slots are moved some are known to two alone, for a moment.
func Unheard(view redis.View, wanted Ring) (slots redis.Slots, by string) {
	f := survey(view, wanted)
	if view.Moving() {
		return nil, ""
	}
	for _, p := range f.leaders() {
		known := view.Passing.Numbers()
		for _, peer := range p.status.Known {
			known = append(known, peer.Slots.Numbers()...)
		}
		for _, other := range f.leaders() {
			if missing := other.status.Slots.Without(redis.SlotsOf(known...)); len(missing) > 0 {
				return missing, p.String()
			}
		}
	}
	return nil, ""
}
