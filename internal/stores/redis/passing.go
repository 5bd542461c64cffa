// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// unclaimed returns the slots that no answering server claims, although an answering server lists another answering
// server as their owner.
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

// passing returns the slots that changed their owner while the view was read, so that no answer claims them. A new
// owner claims a slot before the old one gives it away, so a slot that two views in a row show as unclaimed has no
// owner.
func (v View) passing(before View) Slots {
	return v.unclaimed().Without(before.unclaimed())
}
