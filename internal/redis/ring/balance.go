// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"
	"slices"

	"github.com/opcrew/opcrew/internal/redis"
)

// balance moves slots so that every shard of the ring has as many as any other, give or take
// one, and nobody else has any.
func balance(f *facts) verdict {
	var leaders []*proc
	for i := range f.ring.Nodes {
		if leader := f.leader(i); leader != nil {
			leaders = append(leaders, leader)
		}
	}
	if len(leaders) < f.ring.Nodes {
		return f.waitToDrain()
	}
	moves := f.moves(leaders)
	if len(moves) == 0 {
		return verdict{}
	}
	if found := f.mayMove(moves); found.refusals != nil {
		return found
	}
	plan := redis.MoveSlots{Moves: moves, Tell: f.addresses(f.primaries()), Goal: f.ring.Nodes}
	for _, move := range moves {
		plan.Bytes += f.weight(move)
	}
	return take(plan, "%s, about %s, for %d pods to have as many each", plan, size(plan.Bytes), f.ring.Nodes)
}

// waitToDrain tells that pods that leave wait for others.
func (f *facts) waitToDrain() verdict {
	for _, p := range f.leaders() {
		if f.leaves(p) {
			return refuse(Silent, "%s leaves, and keeps its slots until each of the %d shards that stay has a primary", p, f.ring.Nodes)
		}
	}
	return verdict{}
}

// moves are the fewest that do it: whoever has most keeps the slots that do not divide.
func (f *facts) moves(leaders []*proc) []redis.Move {
	byCount := slices.Clone(leaders)
	slices.SortStableFunc(byCount, func(a, b *proc) int { return cmp.Compare(b.status.Slots.Len(), a.status.Slots.Len()) })
	lacks := map[*proc]int{}
	for i, p := range byCount {
		quota := redis.SlotCount / len(leaders)
		if i < redis.SlotCount%len(leaders) {
			quota++
		}
		lacks[p] = quota - p.status.Slots.Len()
	}
	var out []redis.Move
	for _, from := range f.leaders() {
		lack, stays := lacks[from]
		surplus := from.status.Slots.Numbers()
		if stays {
			surplus = surplus[len(surplus)-max(0, -lack):]
		}
		for _, to := range leaders {
			n := min(len(surplus), max(0, lacks[to]))
			if n == 0 {
				continue
			}
			out = append(out, redis.Move{From: from.end(), To: to.end(), Slots: redis.SlotsOf(surplus[:n]...)})
			surplus, lacks[to] = surplus[n:], lacks[to]-n
		}
	}
	return out
}

// mayMove refuses moves that are decided on what not all agree about, that lead to a shard
// without a replica, or for which there is no room.
func (f *facts) mayMove(moves []redis.Move) verdict {
	if reason := f.election(); reason != "" {
		return refuse(Election, "slots are not moved now: %s", reason)
	}
	if reason := f.disagreement(); reason != "" {
		return refuse(Agreement, "slots are not moved now: %s", reason)
	}
	for _, move := range moves {
		to := f.byID[move.To.ID]
		if !to.status.ClusterOK { // for 2 s from its start (Redis: CLUSTER_WRITABLE_DELAY) it would refuse clients
			return refuse(Serving, "slots are not moved to %s before it holds the cluster to be up", to)
		}
		if !f.secured(to, nil) {
			return refuse(InSync, "slots are not moved to %s before it has a replica in sync", to)
		}
	}
	return f.room(moves)
}
