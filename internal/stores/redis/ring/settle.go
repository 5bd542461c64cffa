// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// settle finishes moves that no one is about any more: keys of an open slot may be at both
// ends, so that to close it where it is would lose some. A slot whose other end is not known
// is closed, once no other primary has keys of it.
func settle(f *facts) verdict {
	var out verdict
	plan := f.plan()
	plan.Open = true
	var moves moveSet
	var closes cancelSet
	for _, slot := range f.openSlots() {
		move, found := f.unfinished(slot)
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
		out.add(take(*step, "close slots at %s that are moved no more", step.Address))
	}
	plan.Moves = moves.all()
	switch shut := f.shut(plan.Moves); {
	case len(plan.Moves) == 0:
	case !f.pausing():
		out.add(take(plan, "finish the move of slots that were left open"))
	case len(shut) > 0: // keys that have gone already cannot be had until it is mended
		out.add(take(redis.OpenSlots{Moves: shut}, "open slots again of which an end of their move knows nothing"))
	}
	return out
}

// shut are those of some moves that are not open at both ends, or whose importing end has them with another than the
// owner, and so with no one from when that follows.
func (f *facts) shut(moves []redis.Move) []redis.Move {
	var out moveSet
	for _, move := range moves {
		from, to := f.byID[move.From.ID].status, f.byID[move.To.ID].status
		owner, _ := to.Peer(move.From.ID)
		for _, slot := range move.Slots.Numbers() {
			if from.Migrating[slot] != to.ID || to.Importing[slot] != from.ID || !owner.Slots.Contains(slot) {
				out.add(move, slot)
			}
		}
	}
	return out.all()
}

// openSlots are those that a primary has open.
func (f *facts) openSlots() []int {
	open := map[int]bool{}
	for _, p := range f.primaries() {
		for _, slots := range []map[int]string{p.status.Migrating, p.status.Importing} {
			for slot := range slots {
				open[slot] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(open))
}

func (f *facts) primaries() []*proc {
	return f.where(func(p *proc) bool { return p.answers && p.status.Role == redis.Primary })
}

func (f *facts) addresses(procs []*proc) []string {
	var out []string
	for _, p := range procs {
		out = append(out, p.Address)
	}
	return out
}

// owner is who serves a slot.
func (f *facts) owner(slot int) *proc {
	for _, p := range f.leaders() {
		if p.status.Slots.Contains(slot) {
			return p
		}
	}
	return nil
}

// unfinished is the move that an open slot is part of, or what else is to be done about it.
func (f *facts) unfinished(slot int) (*redis.Move, verdict) {
	owner := f.owner(slot)
	if owner == nil {
		return nil, refuse(Election, "slot %d is open, and nobody who answers owns it", slot)
	}
	for _, p := range f.primaries() {
		_, importing := p.status.Importing[slot]
		_, migrating := p.status.Migrating[slot]
		if p == owner && importing || p != owner && migrating {
			return nil, f.cancel(p, slot)
		}
	}
	to := f.destination(owner, slot)
	switch {
	case to != nil && !to.status.ClusterOK:
		return nil, refuse(Serving, "slot %d is open, and %s holds the cluster to be down", slot, to)
	case to != nil:
		return &redis.Move{From: owner.end(), To: to.end()}, verdict{}
	case f.election() != "":
		return nil, refuse(Election, "slot %d is open: %s", slot, f.election())
	case f.awaits(slot) && len(f.keepers()) > 0: // closed, the slot would be served without the keys that have gone
		return nil, refuse(Fenced, "slot %d is open to %s: waiting for %s%s", slot, owner.status.Migrating[slot], list(f.keepers()), remedy(f.keepers()))
	}
	return nil, f.cancel(owner, slot)
}

// cancel closes a slot at one end. That others have keys of it speaks against that only where
// the one that closes it owns it.
func (f *facts) cancel(p *proc, slot int) verdict {
	step := redis.CancelMove{Address: p.Address}
	for _, other := range f.primaries() {
		if other != p && p == f.owner(slot) {
			step.Others = append(step.Others, other.end())
		}
	}
	return take(step, "close slots at %s that are moved no more", p)
}

// destination is where a slot goes: anyone who imports it, or has taken the place of the one
// that did.
func (f *facts) destination(owner *proc, slot int) *proc {
	for _, p := range f.primaries() {
		if _, importing := p.status.Importing[slot]; importing {
			return p
		}
	}
	to := f.byID[owner.status.Migrating[slot]]
	if to != nil && to.status.Role == redis.Replica {
		to = f.byID[to.status.PrimaryID]
	}
	if to == nil || to == owner || to.status.Role != redis.Primary {
		return nil
	}
	return to
}
