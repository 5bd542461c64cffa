// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// move moves the slots between one pair of servers, group by group. It leaves out a slot that has a key that is too
// large.
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
			// The move stops only after a batch, so that a plan that is stopped again and again still makes progress.
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("move slots %s from %s to %s: %w", abridged(slots), move.From.Address, move.To.Address, err)
		}
	}
	return large
}

// abridged formats slots for an error message. It shortens the list, because there may be thousands of ranges.
func abridged(slots []int) string {
	const most = 4
	ranges := server.SlotsOf(slots...)
	if len(ranges) <= most {
		return ranges.String()
	}
	return fmt.Sprintf("%s and %d more", ranges[:most], ranges[most:].Len())
}

// some moves one group of slots, with a slot migration job or key by key.
func (m *mover) some(ctx context.Context, move Move, slots []int) error {
	if m.plan.ByJobs {
		return m.batch(ctx, move, slots, (*batch).carryByJob)
	}
	lasting, done := m.outlast(ctx)
	defer done()
	return m.batch(lasting, move, slots, func(b *batch, lasting context.Context) error { return b.carry(lasting, ctx) })
}

// outlast returns a context that ends later than ctx by the time closing, so that a stopped move can complete its
// slots.
func (m *mover) outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		_ = m.sleep(lasting, closing) // the sleep ends early when the batch is done
		cancel()
	})
	return lasting, func() {
		forget()
		cancel()
	}
}

// batch checks both servers, and moves the slots with the given function.
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
