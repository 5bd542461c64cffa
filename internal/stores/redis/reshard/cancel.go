// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"cmp"
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// Apply ends the move of slots that have no keys at another server. If another server has keys of a slot, Apply
// prepares both servers to move the slot there, because otherwise clients could not reach these keys.
func (s CancelMove) Apply(ctx context.Context, store server.Store) error {
	status, err := store.Status(ctx, s.Address)
	if err != nil {
		return err
	}
	here := End{Address: s.Address, ID: status.ID}
	held, rest, err := s.holders(ctx, store)
	if err != nil {
		return err
	}
	for _, other := range s.Others {
		if err := reopen(ctx, store, held[other], here, other); err != nil {
			return err
		}
	}
	return closeSlots(ctx, store, rest, here, status.Slots)
}

// holders divides the slots into held and rest. held contains the slots of which other servers have keys, grouped by
// the server that has the most keys of the slot. No other server has keys of the slots in rest.
func (s CancelMove) holders(ctx context.Context, store server.Store) (held map[End][]int, rest []int, err error) {
	slots := s.Slots.Numbers()
	most, holders := make([]int64, len(slots)), make([]*End, len(slots))
	for _, other := range s.Others {
		counts, err := countKeys(ctx, store, other.Address, slots)
		if err != nil {
			return nil, nil, err
		}
		for i, keys := range counts {
			if keys > most[i] {
				most[i], holders[i] = keys, &other
			}
		}
	}
	held = map[End][]int{}
	for i, slot := range slots {
		if holders[i] == nil {
			rest = append(rest, slot)
			continue
		}
		held[*holders[i]] = append(held[*holders[i]], slot)
	}
	return held, rest, nil
}

// closeSlots ends the move of slots that the server owns or has no keys of. The error reports the first slot whose move
// does not end.
func closeSlots(ctx context.Context, store server.Store, slots []int, at End, owned server.Slots) error {
	counts, err := countKeys(ctx, store, at.Address, slots)
	if err != nil {
		return err
	}
	var commands []server.Command
	var refused error
	for i, slot := range slots {
		if counts[i] > 0 && !owned.Contains(slot) {
			refused = cmp.Or(refused, fmt.Errorf("%s has %d keys of slot %d, which another server owns", at.Address, counts[i], slot))
			continue
		}
		commands = append(commands, server.ClusterCommand("SETSLOT", slot, "STABLE"))
	}
	return cmp.Or(spread(ctx, store, mostLanes, at.Address, commands), refused)
}

// reopen marks slots as being moved, at both servers.
func reopen(ctx context.Context, store server.Store, slots []int, from, to End) error {
	b := &batch{Store: store, Move: Move{From: from, To: to}, lanes: mostLanes}
	if err := b.setSlots(ctx, to.Address, slots, "IMPORTING", from.ID); err != nil {
		return err
	}
	return b.setSlots(ctx, from.Address, slots, "MIGRATING", to.ID)
}
