// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
)

// OpenSlots has both ends of moves that were cut off know of them, for the time until they are finished: an end that has
// taken the place of another (Redis before 8.0 tells its replicas nothing of open slots) else has keys that are at the
// other end already be missing, and clients begin them again.
type OpenSlots struct{ Moves []Move }

func (s OpenSlots) String() string {
	n := 0
	for _, move := range s.Moves {
		n += move.Slots.Len()
	}
	return fmt.Sprintf("open %d slots again", n)
}

func (s OpenSlots) apply(ctx context.Context, store Store) error {
	for _, move := range s.Moves {
		b := &batch{Store: store, Move: move, slots: move.Slots.Numbers(), lanes: mostLanes}
		if err := b.confirm(ctx); err != nil {
			return err
		}
		if err := b.open(ctx); err != nil {
			return err
		}
	}
	return nil
}
