// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"slices"
)

// portions cuts the slots of a move into those that go together: as many as may be open at a time, and as their keys
// have bytes for. Empty slots have none, so that thousands of them go together.
func (m *mover) portions(ctx context.Context, move Move) ([][]int, error) {
	slots := move.Slots.Numbers()
	counts, err := m.countKeys(ctx, move.From.Address, slots)
	if err != nil {
		return nil, err
	}
	return cut(slots, counts, m.bytesPerSlot()*int64(len(slots)), m.bytesAtOnce()), nil
}

// cut makes portions of slots with so many keys each, which have so many bytes in all: each portion has up to so many of
// these, or is one slot.
func cut(slots []int, keys []int64, bytes, most int64) [][]int {
	total := int64(0)
	for _, n := range keys {
		total += n
	}
	perKey := bytes / max(1, total)
	var out [][]int
	first, held := 0, int64(0)
	for i := range slots {
		if size := keys[i] * perKey; i > first && (i-first >= slotsTogether || held+size > most) {
			out = append(out, slots[first:i])
			first, held = i, 0
		}
		held += keys[i] * perKey
	}
	return append(out, slots[first:])
}

// bytesAtOnce is how many bytes go together: those that may be open, and what may go in a second.
func (m *mover) bytesAtOnce() int64 {
	most := int64(bytesTogether)
	if m.plan.ByJobs {
		most = bytesPerJob
	}
	if m.plan.BytesPerSecond > 0 {
		most = min(most, m.plan.BytesPerSecond)
	}
	return most
}

// bytesPerSlot is the estimate of the plan.
func (m *mover) bytesPerSlot() int64 {
	slots := 0
	for _, move := range m.plan.Moves {
		slots += move.Slots.Len()
	}
	return m.plan.Bytes / int64(max(1, slots))
}

// countKeys asks a process how many keys it has of each slot.
func (m *mover) countKeys(ctx context.Context, address string, slots []int) ([]int64, error) {
	store, done, err := m.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return countKeys(ctx, store, address, slots)
}

// countKeys asks a process how many keys it has of each slot.
func countKeys(ctx context.Context, store Store, address string, slots []int) ([]int64, error) {
	out := make([]int64, 0, len(slots))
	for some := range slices.Chunk(slots, closedTogether) {
		commands := make([]Command, len(some))
		for i, slot := range some {
			commands[i] = clusterCommand("COUNTKEYSINSLOT", slot)
		}
		answers, err := within(ctx, store, address, commands...)
		if err != nil {
			return nil, err
		}
		for _, answer := range answers {
			keys, ok := answer.(int64)
			if !ok {
				return nil, fmt.Errorf("%s: CLUSTER COUNTKEYSINSLOT: %v is no number", address, answer)
			}
			out = append(out, keys)
		}
	}
	return out, nil
}

// within is Do, within the time that a command of a move may take.
func within(ctx context.Context, store Store, address string, commands ...Command) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return store.Do(ctx, address, commands...)
}
