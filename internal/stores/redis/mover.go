// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// slotsTogether are slots that are opened at a time: the disk is waited for once for all of them, and not once for each.
	slotsTogether = 4096
	// bytesTogether bounds them too: anyone who stops a move waits for those that are open.
	bytesTogether = 32 << 20
	// closedTogether are slots that are found empty, and then given away, at a time: the less time between the two, the
	// less can change. It also bounds what is in flight to a process.
	closedTogether = 1024
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
	mu    sync.Mutex // of plan.Bare
	// giving is held while slots change hands. Of two destinations at a time each would outbid the other's epoch again
	// and again, and wait for the disk each time (cluster.c, clusterBumpConfigEpochWithoutConsensus).
	giving chan struct{}
}

// run carries out the moves of the plan.
func (m *mover) run(ctx context.Context) error {
	m.giving = make(chan struct{}, 1)
	return m.inPairs(ctx)
}

// move moves the slots of one pair, portion by portion, and goes on with other slots where a key is too large for its own.
func (m *mover) move(ctx context.Context, move Move) error {
	var large error
	portions, err := m.portions(ctx, move)
	if err != nil {
		return fmt.Errorf("move slots from %s to %s: %w", move.From.Address, move.To.Address, err)
	}
	for _, slots := range portions {
		err := m.some(ctx, move, slots)
		if _, is := errors.AsType[*LargeKeyError](err); is {
			large, err = cmp.Or(large, err), nil
		}
		if err == nil {
			err = ctx.Err() // only after a batch: plans that are stopped again and again come to an end too
		}
		if err != nil {
			return fmt.Errorf("move slots %s from %s to %s: %w", abridged(slots), move.From.Address, move.To.Address, err)
		}
	}
	return large
}

// abridged are slots in an error: ranges of thousands of slots can be thousands.
func abridged(slots []int) string {
	const most = 4
	ranges := SlotsOf(slots...)
	if len(ranges) <= most {
		return ranges.String()
	}
	return fmt.Sprintf("%s and %d more", ranges[:most], ranges[most:].Len())
}

// some moves one portion.
func (m *mover) some(ctx context.Context, move Move, slots []int) error {
	if m.plan.ByJobs {
		return m.batch(ctx, move, slots, (*batch).carryByJob)
	}
	lasting, done := m.outlast(ctx)
	defer done()
	return m.batch(lasting, move, slots, func(b *batch, lasting context.Context) error { return b.carry(lasting, ctx) })
}

// outlast is a context that ends some time after another has.
func (m *mover) outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		_ = m.sleep(lasting, closing) // it ends early when no one needs it any more
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
	b := &batch{mover: m, Store: store, Move: move, slots: slots, lanes: m.lanes()}
	if err := b.confirm(ctx); err != nil {
		return err
	}
	if err := b.equip(ctx); err != nil {
		return err
	}
	return way(b, ctx)
}

// lanes are the connections over which commands to one process are spread.
func (m *mover) lanes() int {
	if m.plan.Spread {
		return mostLanes
	}
	return 1
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
