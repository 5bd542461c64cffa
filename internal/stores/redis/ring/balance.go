// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// pause is between a move that failed and the next, and longer the more have failed: what it failed by is likely
// there yet.
func pause(failures int) time.Duration {
	const first, most = 2 * time.Second, 16 * time.Second
	return min(most, first<<min(10, max(0, failures-1)))
}

// balance moves slots so that every shard of the ring has as many as any other, give or take
// one, and no one else has any.
func balance(f *facts) verdict {
	leaders, all := f.shards()
	if !all {
		return f.waitToDrain()
	}
	moves := f.moves(leaders)
	if len(moves) == 0 || f.pausing() {
		return verdict{}
	}
	if found := f.mayMove(moves); found.refusals != nil {
		return found
	}
	plan := f.plan()
	plan.Moves, plan.ByJobs = moves, f.byJobs()
	plan.ByTasks = plan.ByJobs && !f.byID[moves[0].From.ID].status.Version.Valkey
	for _, move := range moves {
		plan.Bytes += f.weight(move)
	}
	return take(plan, "%s, about %s, for %d pods to have as many each", plan, size(plan.Bytes), f.ring.Nodes)
}

// shards are the leaders of those of the ring, and whether each has one.
func (f *facts) shards() (leaders []*proc, all bool) {
	for i := range f.ring.Nodes {
		if leader := f.leader(i); leader != nil {
			leaders = append(leaders, leader)
		}
	}
	return leaders, len(leaders) == f.ring.Nodes
}

// ToMove is how many slots are not where the ring has them; false while that cannot be said, as a shard has no primary.
func ToMove(view redis.View, wanted Ring) (slots int, known bool) {
	f := survey(view, wanted)
	leaders, all := f.shards()
	if !all || view.Err != nil {
		return 0, false
	}
	for _, move := range f.moves(leaders) {
		slots += move.Slots.Len()
	}
	return slots, true
}

// mostFailures in a row have slots go by their keys, whatever they failed by.
const mostFailures = 3

// plan is one without moves yet.
func (f *facts) plan() redis.MoveSlots {
	return redis.MoveSlots{
		Bare: f.bare(), Goal: f.ring.Nodes, Shards: len(f.leaders()), BytesPerSecond: f.ring.Rate, Spread: f.spreads(),
	}
}

// spreads reports whether a server answers only when its replicas have what it was told. After a failure one connection
// has to do: a server may have no room for more.
func (f *facts) spreads() bool {
	failed := f.view.Move != nil && f.view.Move.Failures > 0
	return !failed && slices.ContainsFunc(f.primaries(), func(p *proc) bool { return p.status.Version.AwaitsReplicas() })
}

// bare are the ids of primaries that have no slots.
func (f *facts) bare() []string {
	var out []string
	for _, p := range f.primaries() {
		if len(p.status.Slots) == 0 {
			out = append(out, p.status.ID)
		}
	}
	return out
}

// byJobs reports whether all servers can move slots by themselves, in the same way, and did when they were last asked to. One
// that cannot does not understand what its primary tells it of a job either.
func (f *facts) byJobs() bool {
	if move := f.view.Move; move != nil && (errors.Is(move.Err, redis.ErrNoJobs) || move.Failures >= mostFailures) {
		return false
	}
	version := f.leaders()[0].status.Version
	return !slices.ContainsFunc(f.procs, func(p *proc) bool {
		return !p.gone && (!p.status.Version.HasJobs() || p.status.Version.Valkey != version.Valkey)
	})
}

// waitToDrain reports that pods that leave wait for others.
func (f *facts) waitToDrain() verdict {
	for _, p := range f.leaders() {
		if f.leaves(p) {
			return refuse(Silent, "%s leaves, and keeps its slots until each of the %d shards that stay has a primary", p, f.ring.Nodes)
		}
	}
	return verdict{}
}

// moves are the fewest that do it: anyone who has most keeps the slots that do not divide.
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

// afterFailure says why the last move of slots has failed while there is to be no other one.
func afterFailure(f *facts) verdict {
	if !f.pausing() {
		return verdict{}
	}
	return refuse(Moving, "slots are moved again %s after this: %v", pause(f.view.Move.Failures), f.view.Move.Err)
}

// pausing reports whether a move has just failed.
func (f *facts) pausing() bool {
	move := f.view.Move
	return move != nil && move.Failed() && f.view.At.Before(move.EndedAt.Add(pause(move.Failures)))
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
		from, to := f.byID[move.From.ID], f.byID[move.To.ID]
		if f.handsOver(from) || f.handsOver(to) {
			return refuse(Moving, "slots are not moved between %s and %s: one is about to be stopped", from, to)
		}
		if !to.status.ClusterOK { // for 2 s from its start (Redis: CLUSTER_WRITABLE_DELAY) it would refuse clients
			return refuse(Serving, "slots are not moved to %s before it holds the cluster to be up", to)
		}
		if !f.secured(to, nil) {
			return refuse(InSync, "slots are not moved to %s before it has a replica in sync", to)
		}
	}
	return f.room(moves)
}
