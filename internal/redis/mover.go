// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

const (
	// together are slots that are opened at a time: each round trip, and each write of a
	// nodes.conf to disk, is for that many.
	together = 32
	// bytesTogether bounds them too: whoever stops a move waits for those that are open.
	bytesTogether = 16 << 20
	// batchTimeout is for one command of a move. Servers give up a MIGRATE first.
	batchTimeout = 12 * time.Second
	// closing is how long a move that is stopped may take for the slots that are open. Half moved, they would be in the
	// way of whatever it is stopped for: a replica of Redis 7 that takes the lead knows nothing of them.
	closing = 10 * time.Second
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

// run goes on with other slots where a key is too large for its own.
func (m *mover) run(ctx context.Context) error {
	var large error
	for _, move := range m.plan.Moves {
		for rest := move.Slots.Numbers(); len(rest) > 0; {
			n, err := m.some(ctx, move, rest)
			if _, is := errors.AsType[*LargeKeyError](err); is {
				large, err = cmp.Or(large, err), nil
			}
			if err == nil {
				err = ctx.Err() // only after a batch: plans that are stopped again and again come to an end too
			}
			if err != nil {
				return fmt.Errorf("move slots %s from %s to %s: %w", SlotsOf(rest[:n]...), move.From.Address, move.To.Address, err)
			}
			rest = rest[n:]
		}
	}
	return large
}

// some moves the first of the slots that are left, and tells how many they are.
func (m *mover) some(ctx context.Context, move Move, rest []int) (int, error) {
	if m.plan.ByJobs {
		n := min(len(rest), m.ofAJob())
		return n, m.batch(ctx, move, rest[:n], (*batch).carryByJob)
	}
	n := min(len(rest), m.atOnce(together, bytesTogether))
	lasting, done := m.outlast(ctx)
	defer done()
	return n, m.batch(lasting, move, rest[:n], func(b *batch, lasting context.Context) error { return b.carry(lasting, ctx) })
}

// atOnce is how many slots go together, as far as the estimate of the plan tells how large they are: so many at most, so
// many bytes, and what may go in a second.
func (m *mover) atOnce(slots int, bytes int64) int {
	if m.plan.BytesPerSecond > 0 {
		bytes = min(bytes, m.plan.BytesPerSecond)
	}
	return int(max(1, min(int64(slots), bytes/max(1, m.bytesPerSlot()))))
}

// outlast is a context that ends some time after another has.
func (m *mover) outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		_ = m.sleep(lasting, closing) // it ends early when nobody needs it any more
		cancel()
	})
	return lasting, func() {
		forget()
		cancel()
	}
}

// batch moves slots in one of the ways, after a look at both ends.
func (m *mover) batch(ctx context.Context, move Move, slots []int, way func(*batch, context.Context) error) error {
	store, done, err := m.use()
	if err != nil {
		return err
	}
	defer done()
	m.note(func(p *Progress) { p.From, p.To = move.From, move.To })
	b := &batch{mover: m, Store: store, Move: move, slots: slots}
	if err := b.confirm(ctx); err != nil {
		return err
	}
	if err := b.equip(ctx); err != nil {
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
