// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Loss is what is missing of a cluster's data.
type Loss struct {
	// Slots are those that no one serves, and that no one who answers has a copy of.
	Slots redis.Slots
	// Waits names those that do not answer and may run, or come back: one of them may have the data. It is ""
	// where the loss is certain.
	Waits string
}

// Missing says what is lost, for all that a view shows.
func Missing(view redis.View, wanted Ring) Loss {
	f := survey(view, wanted)
	if len(f.keepers()) == 0 && f.begins() {
		return Loss{}
	}
	return Loss{Slots: f.missing(), Waits: list(f.keepers())}
}

// begins reports whether a cluster is being made of those who answer: no one has, or is said to have had, any slot or key.
// Others may have been there and have gone again, where the number of pods has changed meanwhile.
func (f *facts) begins() bool {
	return f.unowned.Len() == redis.SlotCount && len(f.view.Passing) == 0 &&
		!slices.ContainsFunc(f.answering(), func(p *proc) bool { return p.status.Keys > 0 })
}

// missing leaves out the slots of which a replica has a copy, anyone who lists its primary as their owner.
func (f *facts) missing() redis.Slots {
	missing := f.unowned.Numbers()
	for _, slots := range f.lost {
		missing = append(missing, slots.Numbers()...)
	}
	out := redis.SlotsOf(missing...)
	for _, p := range f.heirs() {
		for _, other := range f.answering() {
			if peer, ok := other.status.Peer(p.status.PrimaryID); ok {
				out = out.Without(peer.Slots)
			}
		}
	}
	return out
}

// heirs are the replicas that have a copy of what a primary had that does not answer.
func (f *facts) heirs() []*proc {
	return f.where(func(p *proc) bool { return p.answers && p.status.HasCopy() && f.byID[p.status.PrimaryID] == nil })
}

// givenUp are the missing slots whose loss the user has accepted. None is while someone may run, or come back,
// who has the data.
func (f *facts) givenUp() redis.Slots {
	if len(f.ring.Forsaken) == 0 || len(f.keepers()) > 0 {
		return nil
	}
	return f.missing().Within(f.ring.Forsaken)
}

// forsaken reports whether all that a lost primary had has been given up.
func (f *facts) forsaken(id string) bool {
	slots := f.lost[id]
	return len(slots) > 0 && len(slots.Without(f.givenUp())) == 0
}

// forsake strikes out lost primaries whose data has been given up, which leaves their slots to
// no one. A replica cannot forget its own primary, and is given another one first; and while a
// replica is to be elected, all who count the votes go on counting the same primaries.
func forsake(f *facts) verdict {
	var out verdict
	for _, id := range sortedKeys(f.lost) {
		if f.forsaken(id) {
			out.add(f.strikeOut(id))
		}
	}
	return out
}

func (f *facts) strikeOut(id string) verdict {
	slots := brief(f.lost[id])
	for _, other := range sortedKeys(f.lost) {
		if heir := f.heir(other); heir != nil {
			return refuse(Election, "slots %s are given up once %s leads", slots, heir)
		}
	}
	if follows := f.followers(id); len(follows) > 0 {
		return refuse(Election, "slots %s are given up once %s, which is empty, has another primary", slots, follows[0])
	}
	return take(redis.Forget{ID: id, At: f.listers(id)}, "give up slots %s: forget their primary %s", slots, id)
}

// listers are the addresses of all who have an id in their tables.
func (f *facts) listers(id string) []string {
	return f.addresses(f.where(func(p *proc) bool {
		_, listed := p.status.Peer(id)
		return p.answers && listed
	}))
}

// reassign gives slots that were given up to anyone who leads the shards that they are of.
func (f *facts) reassign(given redis.Slots) verdict {
	out := map[string]redis.Slots{}
	for i := range f.ring.Nodes {
		if slots := share(i, f.ring.Nodes).Within(given); len(slots) > 0 && f.leader(i) != nil {
			out[f.leader(i).Address] = slots
		}
	}
	if len(out) == 0 {
		return halt(Unowned, "slots %s are given up, and wait for a primary of their shard", brief(given))
	}
	return take(redis.AssignSlots{Slots: out, Outrank: true}, "give out slots %s without the data that they had", brief(given))
}
