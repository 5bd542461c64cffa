// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import "context"

// portions divides the slots of a move into groups that are moved together, by their number and the size of their keys.
// One group may have thousands of empty slots.
func (m *mover) portions(ctx context.Context, move Move) ([][]int, error) {
	slots := move.Slots.Numbers()
	counts, err := m.countKeys(ctx, move.From.Address, slots)
	if err != nil {
		return nil, err
	}
	return cut(slots, counts, m.bytesPerSlot()*int64(len(slots)), m.bytesAtOnce()), nil
}

// cut divides slots into groups. most is the maximum size of a group in bytes. A larger slot forms a group of its own.
// keys holds the number of keys of each slot. bytes is the total size of all keys.
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

// bytesAtOnce returns the maximum size of a group in bytes. With a rate limit, a group is at most what may be moved in
// a second.
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

// countKeys returns how many keys of each slot a server has.
func (m *mover) countKeys(ctx context.Context, address string, slots []int) ([]int64, error) {
	store, done, err := m.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return countKeys(ctx, store, address, slots)
}
