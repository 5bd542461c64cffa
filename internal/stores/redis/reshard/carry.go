// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// carry moves slots key by key (https://redis.io/docs/latest/commands/cluster-setslot): it marks them as moving, moves
// the keys, and changes their owner. When the move is stopped, paced ends before ctx, and the remaining keys are moved
// without a rate limit.
func (b *batch) carry(ctx, paced context.Context) error {
	large, err := b.mayOpen(ctx, paced)
	if err != nil || len(b.slots) == 0 {
		return cmp.Or(err, large)
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	for slots := range slices.Chunk(b.slots, closedTogether) {
		if err := b.close(ctx, paced, slots); err != nil {
			return err
		}
		b.note(func(p *Progress) { p.Moved += len(slots) })
	}
	return large
}

// close moves the remaining keys and makes the destination the owner of the slots. It informs the destination first,
// then the source. The destination informs all other servers at once (cluster.c, clusterBroadcastPong).
func (b *batch) close(ctx, paced context.Context, slots []int) error {
	if err := b.empty(ctx, paced, slots); err != nil {
		return err
	}
	select {
	case b.giving <- struct{}{}:
		defer func() { <-b.giving }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := b.stillEmpty(ctx, slots); err != nil {
		return err
	}
	for _, end := range []End{b.To, b.From} {
		if err := b.setSlots(ctx, end.Address, slots, "NODE", b.To.ID); err != nil {
			return err
		}
	}
	return nil
}

// stillEmpty checks again that the source has no keys, just before the slots change their owner. A new primary at the
// source may not know that the slots are being moved, and may therefore have accepted writes.
func (b *batch) stillEmpty(ctx context.Context, slots []int) error {
	left, err := b.keys(ctx, slots)
	if err == nil && len(left) > 0 {
		return fmt.Errorf("%s has new keys in slots that were empty", b.From.Address)
	}
	return err
}
