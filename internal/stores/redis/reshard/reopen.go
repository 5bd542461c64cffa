// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// OpenSlots marks the slots of interrupted moves as moving at both servers, until the moves are finished. In Redis
// before 8.0, a new primary does not know about the move. Clients would then miss keys at the other server and create
// them again.
type OpenSlots struct{ Moves []Move }

func (s OpenSlots) String() string {
	n := 0
	for _, move := range s.Moves {
		n += move.Slots.Len()
	}
	return fmt.Sprintf("mark %d slots as moving again", n)
}

// Apply marks the slots as moving at both servers of each move.
func (s OpenSlots) Apply(ctx context.Context, store server.Store) error {
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
