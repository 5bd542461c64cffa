// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// balance moves slots until all shards have equally many, up to a difference of one, and no other server has any.
func balance(in *input) verdict {
	leaders, all := in.shards()
	if !all {
		return waitToDrain(in.leaders(), in.nodes)
	}
	moves := evenMoves(in.leaders(), leaders)
	if len(moves) == 0 || pausing(in.view) {
		return verdict{}
	}
	if found := mayMove(in, moves); found.refusals != nil {
		return found
	}
	plan := newPlan(in)
	plan.Moves, plan.ByJobs = moves, byJobs(in.view.Move, in.all, in.leaders()[0].status.Version.Valkey)
	plan.ByTasks = plan.ByJobs && !in.byID[moves[0].From.ID].status.Version.Valkey
	for _, move := range moves {
		plan.Bytes += weight(move, in.byID[move.From.ID].status)
	}
	return take(plan, "%s (about %s of data), so that %d pods have equally many slots", plan, size(plan.Bytes), in.nodes)
}

// ToMove returns how many slots are not in the shard where they should be. known is false while a shard has no primary.
func ToMove(view redis.View, wanted Ring) (slots int, known bool) {
	in := survey(view, wanted)
	leaders, all := in.shards()
	if !all || view.Err != nil {
		return 0, false
	}
	for _, move := range evenMoves(in.leaders(), leaders) {
		slots += move.Slots.Len()
	}
	return slots, true
}

// waitToDrain reports that pods that will be removed keep their slots until every remaining shard has a primary.
func waitToDrain(leaders []*proc, nodes int) verdict {
	for _, p := range leaders {
		if p.leaves {
			return refuse(Silent, "%s will be removed, but keeps its slots until each of the %d remaining shards has a primary", p, nodes)
		}
	}
	return verdict{}
}

// evenMoves returns the fewest moves after which the remaining primaries have equally many slots and the other
// primaries none. If the slots do not divide evenly, the primaries with the most slots keep one more.
func evenMoves(leaders, stay []*proc) []redis.Move {
	lacks := lacking(stay)
	var out []redis.Move
	for _, from := range leaders {
		lack, stays := lacks[from]
		surplus := from.status.Slots.Numbers()
		if stays {
			surplus = surplus[len(surplus)-max(0, -lack):]
		}
		for _, to := range stay {
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

// lacking returns how many slots each remaining primary lacks; a negative number means that it has too many.
func lacking(stay []*proc) map[*proc]int {
	byCount := slices.Clone(stay)
	slices.SortStableFunc(byCount, func(a, b *proc) int { return cmp.Compare(b.status.Slots.Len(), a.status.Slots.Len()) })
	lacks := map[*proc]int{}
	for i, p := range byCount {
		quota := redis.SlotCount / len(stay)
		if i < redis.SlotCount%len(stay) {
			quota++
		}
		lacks[p] = quota - p.status.Slots.Len()
	}
	return lacks
}

// mayMove refuses moves while the servers disagree about slot owners, moves to a shard without a replica, and moves to
// a server without enough memory.
func mayMove(in *input, moves []redis.Move) verdict {
	if reason := in.election(); reason != "" {
		return refuse(Election, "slots are not moved now: %s", reason)
	}
	if reason := disagreement(in.members()); reason != "" {
		return refuse(Agreement, "slots are not moved now: %s", reason)
	}
	for _, move := range moves {
		from, to := in.byID[move.From.ID], in.byID[move.To.ID]
		if in.handsOver(from) || in.handsOver(to) {
			return refuse(Moving, "slots are not moved between %s and %s: one of them is about to be stopped", from, to)
		}
		if !to.status.ClusterOK { // a primary refuses clients for 2 s after its start (CLUSTER_WRITABLE_DELAY)
			return refuse(Serving, "slots are not moved to %s until that server considers the cluster up", to)
		}
		if !in.secured(to, nil) {
			return refuse(InSync, "slots are not moved to %s until that server has a replica in sync", to)
		}
	}
	return room(moves, in.byID)
}
