// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SlotCount is the number of slots of every Redis cluster.
const SlotCount = 16384

// SlotRange is a range of slots. It includes First and Last.
type SlotRange struct{ First, Last int }

func (r SlotRange) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// Slots are ranges of slots in ascending order that neither touch nor overlap.
type Slots []SlotRange

// SlotsOf returns slot numbers as sorted ranges.
func SlotsOf(numbers ...int) Slots {
	sorted := slices.Compact(slices.Sorted(slices.Values(numbers)))
	var out Slots
	for _, n := range sorted {
		if last := len(out) - 1; last >= 0 && out[last].Last == n-1 {
			out[last].Last = n
			continue
		}
		out = append(out, SlotRange{n, n})
	}
	return out
}

// joined returns ranges in ascending order, and joins those that touch or overlap. A server lists each slot once, but a
// hostile one may not.
func joined(ranges []SlotRange) Slots {
	slices.SortFunc(ranges, func(a, b SlotRange) int { return cmp.Compare(a.First, b.First) })
	var out Slots
	for _, r := range ranges {
		if last := len(out) - 1; last >= 0 && r.First <= out[last].Last+1 {
			out[last].Last = max(out[last].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}

// parseSlot parses one slot or range, such as 5 or 0-5460.
func parseSlot(text string) (SlotRange, error) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return SlotRange{}, fmt.Errorf("slots %.40q are not numbers", text)
	}
	to, err := strconv.Atoi(last)
	if err != nil {
		return SlotRange{}, fmt.Errorf("slots %.40q are not numbers", text)
	}
	if from < 0 || to < from || to >= SlotCount {
		return SlotRange{}, fmt.Errorf("slots %.40q are not within 0-%d", text, SlotCount-1)
	}
	return SlotRange{from, to}, nil
}

// ParseSlots parses comma-separated ranges of slots, such as 0-5460,7000, in any order. Its memory use does not grow
// with the number of ranges.
func ParseSlots(text string) (Slots, error) {
	var has [SlotCount]bool
	for part := range strings.SplitSeq(text, ",") {
		slots, err := parseSlot(part)
		if err != nil {
			return nil, err
		}
		for n := slots.First; n <= slots.Last; n++ {
			has[n] = true
		}
	}
	var numbers []int
	for n := range has {
		if has[n] {
			numbers = append(numbers, n)
		}
	}
	return SlotsOf(numbers...), nil
}

// Len returns the number of slots.
func (s Slots) Len() int {
	n := 0
	for _, r := range s {
		n += r.Last - r.First + 1
	}
	return n
}

// Numbers returns the slots one by one.
func (s Slots) Numbers() []int {
	out := make([]int, 0, s.Len())
	for _, r := range s {
		for n := r.First; n <= r.Last; n++ {
			out = append(out, n)
		}
	}
	return out
}

// Contains reports whether a slot is in one of the ranges.
func (s Slots) Contains(slot int) bool {
	return slices.ContainsFunc(s, func(r SlotRange) bool { return r.First <= slot && slot <= r.Last })
}

// Without returns the slots that are not in others.
func (s Slots) Without(others Slots) Slots {
	return SlotsOf(slices.DeleteFunc(s.Numbers(), others.Contains)...)
}

// Within returns the slots that are also in others.
func (s Slots) Within(others Slots) Slots {
	return SlotsOf(slices.DeleteFunc(s.Numbers(), func(n int) bool { return !others.Contains(n) })...)
}

func (s Slots) String() string {
	out := make([]string, len(s))
	for i, r := range s {
		out[i] = r.String()
	}
	return strings.Join(out, ",")
}
