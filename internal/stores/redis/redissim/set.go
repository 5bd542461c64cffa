// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"math/bits"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// set is a set of slots, with one bit per slot.
type set [redis.SlotCount / 64]uint64

func (s *set) has(slot int) bool { return s[slot/64]&(1<<(slot%64)) != 0 }

func (s *set) add(slot int) { s[slot/64] |= 1 << (slot % 64) }

func (s *set) take(slot int) { s[slot/64] &^= 1 << (slot % 64) }

func (s *set) addAll(other set) {
	for i := range s {
		s[i] |= other[i]
	}
}

func (s *set) takeAll(other set) {
	for i := range s {
		s[i] &^= other[i]
	}
}

func (s set) both(other set) set {
	for i := range s {
		s[i] &= other[i]
	}
	return s
}

func (s set) empty() bool { return s == set{} }

func (s set) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// all returns the slot numbers one by one.
func (s set) all() []int {
	out := make([]int, 0, s.count())
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			out = append(out, i*64+bits.TrailingZeros64(word))
		}
	}
	return out
}

// ranges returns the slots as ranges.
func (s set) ranges() redis.Slots {
	var out redis.Slots
	for _, slot := range s.all() {
		if last := len(out) - 1; last >= 0 && out[last].Last == slot-1 {
			out[last].Last = slot
			continue
		}
		out = append(out, redis.SlotRange{First: slot, Last: slot})
	}
	return out
}

func compare(a, b string) int { return strings.Compare(a, b) }
