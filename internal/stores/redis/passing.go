// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// unclaimed returns the slots that no answering process claims, but that an answering process lists for another
// process.
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

// passing returns the slots that changed hands while the view was read. A slot that was unclaimed in the previous view
// too is lost, because the process that gets a slot claims it before the other gives it away.
func (v View) passing(before View) Slots {
	return v.unclaimed().Without(before.unclaimed())
}
