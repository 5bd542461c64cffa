// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// OpenSlots opens the slots of interrupted moves at both ends until they are finished. A server that has replaced one
// of the ends does not know that they are open (Redis before 8.0). Clients would then miss keys that are at the other
// end, and create them again.
type OpenSlots struct{ Moves []Move }

func (s OpenSlots) String() string {
	n := 0
	for _, move := range s.Moves {
		n += move.Slots.Len()
	}
	return fmt.Sprintf("open %d slots again", n)
}

// Apply opens the slots at both ends of their move.
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
