// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// adrift are the slots that no one who answers claims, and that the table of one of them has for another of them.
func (v View) adrift() Slots {
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

// passing are the slots that changed hands while processes were asked one after another. One that was adrift in the
// look before too is not among them: anyone who takes a slot claims it before the one that gives it away knows.
func (v View) passing(before View) Slots {
	return v.adrift().Without(before.adrift())
}
