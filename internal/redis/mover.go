// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/clock"
)

const (
	// together are slots that are opened at a time: each round trip, and each write of a
	// nodes.conf to disk, is for that many.
	together = 32
	// batchTimeout is for one command of a move. Servers give up a MIGRATE first.
	batchTimeout = 12 * time.Second
)

// mover moves slots one batch after another, with commands that all versions have. It keeps
// nothing: what has been moved, and what is half done, is in the processes. One that ended
// in the middle is followed by another with a new plan.
type mover struct {
	use   func() (Store, func(), error)
	clock clock.WithTicker
	note  func(func(*Progress))
	plan  MoveSlots
}

func (m *mover) run(ctx context.Context) error {
	for _, move := range m.plan.Moves {
		for slots := range slices.Chunk(move.Slots.Numbers(), together) {
			if err := m.batch(ctx, move, slots); err != nil {
				return fmt.Errorf("move slots %s from %s to %s: %w", SlotsOf(slots...), move.From.Address, move.To.Address, err)
			}
			m.note(func(p *Progress) { p.Moved += len(slots) })
		}
	}
	return nil
}

// batch moves slots as https://redis.io/docs/latest/commands/cluster-setslot tells: opened at
// both ends, the importing one first, emptied, and closed at the importing one first. If it
// were the last to learn of it, and were lost before, nobody would own the slot.
func (m *mover) batch(ctx context.Context, move Move, slots []int) error {
	store, done, err := m.use()
	if err != nil {
		return err
	}
	defer done()
	b := batch{mover: m, Store: store, Move: move, slots: slots}
	if err := b.confirm(ctx); err != nil {
		return err
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	if err := b.empty(ctx); err != nil {
		return err
	}
	return b.close(ctx)
}

// pause keeps to the rate of the plan.
func (m *mover) pause(ctx context.Context, bytes int64) error {
	if m.plan.BytesPerSecond <= 0 {
		return ctx.Err()
	}
	timer := m.clock.NewTimer(time.Duration(float64(time.Second) * float64(bytes) / float64(m.plan.BytesPerSecond)))
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
