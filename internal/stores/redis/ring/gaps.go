// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// gaps are the slots that no process that answers serves.
type gaps struct {
	// lost are the slots of primaries that do not answer, by their ID, as far as the processes that answer know.
	lost map[string]redis.Slots
	// unowned are the slots that no process claims. Slots that pass are neither lost nor unowned.
	unowned redis.Slots
	// accepted are the slots whose loss the user accepts.
	accepted redis.Slots
}

// findGaps reads the slots of a process that does not answer from the tables of the others.
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

// slotSet are the slots that have been seen.
type slotSet [redis.SlotCount]bool

// mark adds slots and returns those that are new.
func (s *slotSet) mark(slots redis.Slots) (added []int) {
	for _, n := range slots.Numbers() {
		if !s[n] {
			added, s[n] = append(added, n), true
		}
	}
	return added
}

// others are the slots that are not in the set.
func (s *slotSet) others() redis.Slots {
	var out []int
	for n, is := range s {
		if !is {
			out = append(out, n)
		}
	}
	return redis.SlotsOf(out...)
}
