// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// settle finishes interrupted moves. Both servers may have keys of a half-moved slot, so ending the move could lose
// keys. If the destination is not known, settle ends the move once no other primary has keys of the slot.
func settle(in *input) verdict {
	var out verdict
	var moves moveSet
	var closes cancelSet
	for _, slot := range in.openSlots() {
		move, found := unfinished(in, slot)
		switch cancel, is := found.step.(redis.CancelMove); {
		case move != nil:
			moves.add(*move, slot)
		case is:
			closes.add(cancel, slot)
		default:
			out.add(found)
		}
	}
	if step := closes.first(); step != nil {
		out.add(take(*step, "cancel the interrupted move of slots at %s", step.Address))
	}
	plan := newPlan(in)
	plan.Open, plan.Moves = true, moves.all()
	switch halfOpen := halfOpen(in.byID, plan.Moves); {
	case len(plan.Moves) == 0:
	case !pausing(in.view):
		out.add(take(plan, "finish an interrupted move of slots"))
	case len(halfOpen) > 0:
		// A slot must be marked as moving at both servers, so that clients can get the keys that were already moved.
		out.add(take(redis.OpenSlots{Moves: halfOpen}, "mark slots of an interrupted move as moving on both servers again"))
	}
	return out
}

// halfOpen returns the slots that source and destination do not both mark as moving, and the slots of which the
// destination does not list the source as the owner.
func halfOpen(byID map[string]*proc, moves []redis.Move) []redis.Move {
	var out moveSet
	for _, move := range moves {
		from, to := byID[move.From.ID].status, byID[move.To.ID].status
		owner, _ := to.Peer(move.From.ID)
		for _, slot := range move.Slots.Numbers() {
			if from.Migrating[slot] != to.ID || to.Importing[slot] != from.ID || !owner.Slots.Contains(slot) {
				out.add(move, slot)
			}
		}
	}
	return out.all()
}

// unfinished decides what to do about a half-moved slot. It returns the move that opcrew must finish, or else a
// verdict: a step that cancels the move, or a reason to wait.
func unfinished(in *input, slot int) (*redis.Move, verdict) {
	owner := in.owner(slot)
	if owner == nil {
		return nil, refuse(Election, "slot %d is being moved, and none of the servers that answer owns it", slot)
	}
	for _, p := range in.primaries() {
		_, importing := p.status.Importing[slot]
		_, migrating := p.status.Migrating[slot]
		if p == owner && importing || p != owner && migrating {
			return nil, cancel(in.processes, p, slot)
		}
	}
	to := destination(in.processes, owner, slot)
	switch {
	case to != nil && !to.status.ClusterOK:
		return nil, refuse(Serving, "slot %d is being moved to %s, which considers the cluster down", slot, to)
	case to != nil:
		return &redis.Move{From: owner.end(), To: to.end()}, verdict{}
	case in.election() != "":
		return nil, refuse(Election, "slot %d is being moved: %s", slot, in.election())
	case awaits(in.processes, slot) && len(in.keepers()) > 0:
		// If the move ended now, the owner would serve the slot without the keys that were already moved to the other
		// server.
		return nil, refuse(Fenced, "slot %d is being moved to %s: waiting for %s%s", slot, owner.status.Migrating[slot], list(in.keepers()), remedy(in.keepers()))
	}
	return nil, cancel(in.processes, owner, slot)
}

// cancel ends the move of a slot at one server. If that server owns the slot, the step first checks that no other
// primary has keys of the slot.
func cancel(ps processes, p *proc, slot int) verdict {
	step := redis.CancelMove{Address: p.Address}
	for _, other := range ps.primaries() {
		if other != p && p == ps.owner(slot) {
			step.Others = append(step.Others, other.end())
		}
	}
	return take(step, "cancel the interrupted move of slots at %s", p)
}

// destination returns the server that a slot should move to: the one that imports it, or the one that replaced that
// server.
func destination(ps processes, owner *proc, slot int) *proc {
	for _, p := range ps.primaries() {
		if _, importing := p.status.Importing[slot]; importing {
			return p
		}
	}
	to := ps.byID[owner.status.Migrating[slot]]
	if to != nil && to.status.Role == redis.Replica {
		to = ps.byID[to.status.PrimaryID]
	}
	if to == nil || to == owner || to.status.Role != redis.Primary {
		return nil
	}
	return to
}
