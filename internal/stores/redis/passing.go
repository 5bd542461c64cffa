// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// unclaimed returns slots for which no server that answers claims to be the owner, although such a server lists another
// owner.
func (v View) unclaimed() Slots {
	var claimed [SlotCount]bool
	answers := map[string]bool{}
	for _, status := range v.Nodes {
		if !status.Answers() {
			continue
		}
		answers[status.ID] = true
		for _, n := range status.Slots.Numbers() {
			claimed[n] = true
		}
	}
	var out []int
	for _, status := range v.Nodes {
		for _, peer := range status.Known {
			if !answers[peer.ID] {
				continue
			}
			for _, n := range peer.Slots.Numbers() {
				if !claimed[n] {
					out, claimed[n] = append(out, n), true
				}
			}
		}
	}
	return SlotsOf(out...)
}

// passing returns the slots whose owner changed while the view was read. A slot that was unclaimed in the previous view
// too is lost and not passing, because the new owner claims a slot before the old one gives it away.
func (v View) passing(before View) Slots {
	return v.unclaimed().Without(before.unclaimed())
}
