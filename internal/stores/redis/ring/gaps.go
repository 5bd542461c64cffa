// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// gaps holds the slots that no process which answers serves.
type gaps struct {
	// lost holds the slots of the primaries that do not answer, by primary ID, as far as the other processes know them.
	lost map[string]redis.Slots
	// unowned holds the slots that no process claims. Slots that changed owner while the view was read are neither lost
	// nor unowned.
	unowned redis.Slots
	// accepted holds the slots whose data the user has given up.
	accepted redis.Slots
}

// findGaps finds the gaps. The slots of a silent process are taken from the tables of the others.
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

// slotSet records which slots have been seen.
type slotSet [redis.SlotCount]bool

// mark adds slots, and returns those that were not in the set yet.
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
