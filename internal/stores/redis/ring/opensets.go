// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// moveSet groups slots, of which there may be thousands, by the source and the destination of their move.
type moveSet struct {
	moves []redis.Move
	slots [][]int
}

func (s *moveSet) add(move redis.Move, slot int) {
	i := slices.IndexFunc(s.moves, func(other redis.Move) bool { return other.From == move.From && other.To == move.To })
	if i < 0 {
		i = len(s.moves)
		s.moves, s.slots = append(s.moves, redis.Move{From: move.From, To: move.To}), append(s.slots, nil)
	}
	s.slots[i] = append(s.slots[i], slot)
}

// all returns the moves in the order of their first slots.
func (s *moveSet) all() []redis.Move {
	for i := range s.moves {
		s.moves[i].Slots = redis.SlotsOf(s.slots[i]...)
	}
	return s.moves
}

// cancelSet collects the half-moved slots at one server, so that a single step can end their moves. Later steps handle
// slots at other servers.
type cancelSet struct {
	step  *redis.CancelMove
	slots []int
}

func (s *cancelSet) add(cancel redis.CancelMove, slot int) {
	if s.step == nil {
		s.step = &cancel
	}
	if s.step.Address == cancel.Address && slices.Equal(s.step.Others, cancel.Others) {
		s.slots = append(s.slots, slot)
	}
}

func (s *cancelSet) first() *redis.CancelMove {
	if s.step != nil {
		s.step.Slots = redis.SlotsOf(s.slots...)
	}
	return s.step
}
