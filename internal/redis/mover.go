// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
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

// mover moves slots some at a time: by jobs of the servers' own where the plan has it so, else with commands that all
// versions have. It keeps nothing: what has been moved, and what is half done, is in the processes. One that ended
// in the middle is followed by another with a new plan.
type mover struct {
	use   func() (Store, func(), error)
	clock clock.WithTicker
	note  func(func(*Progress))
	plan  MoveSlots
}

func (m *mover) run(ctx context.Context) error {
	for _, move := range m.plan.Moves {
		for rest := move.Slots.Numbers(); len(rest) > 0; {
			n, err := m.some(ctx, move, rest)
			if err != nil {
				return fmt.Errorf("move slots %s from %s to %s: %w", SlotsOf(rest[:n]...), move.From.Address, move.To.Address, err)
			}
			rest = rest[n:]
		}
	}
	return nil
}

// some moves the first of the slots that are left, and tells how many they are.
func (m *mover) some(ctx context.Context, move Move, rest []int) (int, error) {
	if m.plan.ByJobs {
		n := min(len(rest), m.ofAJob())
		return n, m.batch(ctx, move, rest[:n], (*batch).carryByJob)
	}
	n := min(len(rest), together)
	return n, m.batch(ctx, move, rest[:n], (*batch).carry)
}

// batch moves slots in one of the ways, after a look at both ends.
func (m *mover) batch(ctx context.Context, move Move, slots []int, way func(*batch, context.Context) error) error {
	store, done, err := m.use()
	if err != nil {
		return err
	}
	defer done()
	b := &batch{mover: m, Store: store, Move: move, slots: slots}
	if err := b.confirm(ctx); err != nil {
		return err
	}
	return way(b, ctx)
}

// pause keeps to the rate of the plan.
func (m *mover) pause(ctx context.Context, bytes int64) error {
	if m.plan.BytesPerSecond <= 0 {
		return ctx.Err()
	}
	return m.sleep(ctx, time.Duration(float64(time.Second)*float64(bytes)/float64(m.plan.BytesPerSecond)))
}

func (m *mover) sleep(ctx context.Context, d time.Duration) error {
	timer := m.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
