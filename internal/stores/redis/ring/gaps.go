// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// gaps holds the slots that none of the answering servers serves.
type gaps struct {
	// lost holds the slots of silent primaries, by the primary's ID, as the other servers list them.
	lost map[string]redis.Slots
	// unowned holds the slots that no server claims. A slot whose owner changed while the view was read is neither lost
	// nor unowned.
	unowned redis.Slots
	// accepted holds the slots whose loss of data the user has accepted.
	accepted redis.Slots
}

// findGaps finds the slots that no server serves. The node tables of the answering servers show which slots a silent
// server owns.
func findGaps(answering []*proc, byID map[string]*proc, passing redis.Slots) gaps {
	g := gaps{lost: map[string]redis.Slots{}}
	var seen slotSet
	seen.mark(passing)
	for _, p := range answering {
		seen.mark(p.status.Slots)
	}
	for _, p := range answering {
		for _, peer := range p.status.Known {
			if byID[peer.ID] != nil {
				continue
			}
			if found := seen.mark(peer.Slots); len(found) > 0 {
				g.lost[peer.ID] = redis.SlotsOf(append(found, g.lost[peer.ID].Numbers()...)...)
			}
		}
	}
	g.unowned = seen.others()
	return g
}

// slotSet is a set of slots.
type slotSet [redis.SlotCount]bool

// mark adds slots, and returns those that were not in the set before.
func (s *slotSet) mark(slots redis.Slots) (added []int) {
	for _, n := range slots.Numbers() {
		if !s[n] {
			added, s[n] = append(added, n), true
		}
	}
	return added
}

// others returns the slots that are not in the set.
func (s *slotSet) others() redis.Slots {
	var out []int
	for n, is := range s {
		if !is {
			out = append(out, n)
		}
	}
	return redis.SlotsOf(out...)
}
