// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// batch is some slots of a move.
type batch struct {
	*mover
	Store
	Move
	slots []int
	// lanes are the connections over which commands are spread.
	lanes int
}

// carry moves slots by their keys, as https://redis.io/docs/latest/commands/cluster-setslot tells: opened at
// both ends, the importing one first, emptied, and closed at the importing one first. If it
// were the last to learn of it, and were lost before, no one would own the slot. Slots without keys are opened too: a key
// that a client begins after they were found empty is then begun at the end that gets them, and never lost with the other's claim.
// When paced ends before ctx does, what is open is moved as fast as can be. Slots with a key that is too large are left
// out, and told of once the others are there. None is opened while the end that is to get them has no replica in sync.
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

// mayOpen looks whether slots may be opened. Those that are open already are moved whatever it would find: half moved they
// cannot stay.
func (b *batch) mayOpen(ctx, paced context.Context) (large, err error) {
	if b.plan.Open {
		return nil, nil
	}
	if err := b.shelter(paced, mostBehindByKeys); err != nil {
		return nil, err
	}
	return b.leaveOut(ctx)
}

// confirm asks whether the ends are who they were: an address may be another's by now.
func (b *batch) confirm(ctx context.Context) error {
	for _, end := range []End{b.To, b.From} {
		if err := confirm(ctx, b.Store, end.Address, end.ID); err != nil {
			return err
		}
	}
	return nil
}

// open is repeated for slots that were left open: either end may have another primary by now, who knows of nothing.
func (b *batch) open(ctx context.Context) error {
	if err := b.rebind(ctx); err != nil {
		return err
	}
	if err := b.setSlots(ctx, b.To.Address, b.slots, "IMPORTING", b.From.ID); err != nil {
		return err
	}
	return b.setSlots(ctx, b.From.Address, b.slots, "MIGRATING", b.To.ID)
}

// rebind tells the importing end whose the slots are. Of a slot that it has open it hears of no other owner (cluster.c,
// clusterUpdateSlotsConfigWith), and when the one from before is a replica by now it knows of none: it would refuse the
// keys ("CLUSTERDOWN Hash slot not served"). It is not told SETSLOT STABLE first, and waited for to hear it: if it were
// restarted meanwhile it would claim slots of which it has keys (verifyClusterConfigWithData).
func (b *batch) rebind(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	status, err := b.Status(asking, b.To.Address)
	if err != nil {
		return err
	}
	astray, err := status.astray(b.slots, b.From.ID)
	if err != nil || len(astray) == 0 {
		return err
	}
	return b.setSlots(ctx, b.To.Address, astray, "NODE", b.From.ID)
}

// astray are those of some slots that a process does not have with their owner in its table. One that it has with a
// primary of a later epoch is an error: the owner has yet to hear of that.
func (s NodeStatus) astray(slots []int, id string) ([]int, error) {
	owner, known := s.Peer(id)
	if !known || owner.Role != Primary {
		return nil, fmt.Errorf("%s has yet to hear that %s is a primary", s.ID, id)
	}
	out := SlotsOf(slots...).Without(owner.Slots)
	if len(out) == 0 {
		return nil, nil
	}
	for _, peer := range s.Known {
		if theirs := out.Within(peer.Slots); peer.ConfigEpoch > owner.ConfigEpoch && len(theirs) > 0 {
			return nil, fmt.Errorf("%s has heard that slot %d is now with %s", s.ID, theirs[0].First, peer.ID)
		}
	}
	return out.Numbers(), nil
}

// close empties slots and has the importing end own them, then the other, which refuses that for as long as it holds keys
// of them. All others hear of it from the importing end, which tells them at once (cluster.c, clusterBroadcastPong).
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

// stillEmpty asks the owner once more, right before slots are given away: another may have taken its lead since, and
// know nothing of open slots.
func (b *batch) stillEmpty(ctx context.Context, slots []int) error {
	left, err := b.keys(ctx, slots)
	if err == nil && len(left) > 0 {
		return fmt.Errorf("%s has keys again of slots that were empty", b.From.Address)
	}
	return err
}

func (b *batch) setSlots(ctx context.Context, address string, slots []int, state, id string) error {
	commands := make([]Command, len(slots))
	for i, slot := range slots {
		commands[i] = clusterCommand("SETSLOT", slot, state, id)
	}
	return spread(ctx, b.Store, b.lanes, address, commands)
}

func (b *batch) do(ctx context.Context, address string, commands ...Command) ([]any, error) {
	return within(ctx, b.Store, address, commands...)
}
