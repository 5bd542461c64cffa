// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"fmt"
	"sync"
)

// batch is some slots of a move.
type batch struct {
	*mover
	Store
	Move
	slots []int
}

// carry moves slots by their keys, as https://redis.io/docs/latest/commands/cluster-setslot tells: opened at
// both ends, the importing one first, emptied, and closed at the importing one first. If it
// were the last to learn of it, and were lost before, nobody would own the slot. When paced ends before ctx does, what
// is open is moved as fast as can be. Slots with a key that is too large are left out, and told of once the others are there.
// None is opened while the end that is to get them has no replica in sync.
func (b *batch) carry(ctx, paced context.Context) error {
	large, err := b.mayOpen(ctx, paced)
	if err != nil || len(b.slots) == 0 {
		return cmp.Or(err, large)
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	if err := b.empty(ctx, paced); err != nil {
		return err
	}
	if err := b.close(ctx); err != nil {
		return err
	}
	b.note(func(p *Progress) { p.Moved += len(b.slots) })
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
// clusterUpdateSlotsConfigWith), and when the one of before is a replica by now it knows of none: it would refuse the
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
	var out []int
	for _, slot := range slots {
		if owner.Slots.Contains(slot) {
			continue
		}
		for _, peer := range s.Known {
			if peer.Slots.Contains(slot) && peer.ConfigEpoch > owner.ConfigEpoch {
				return nil, fmt.Errorf("%s has heard that slot %d is now with %s", s.ID, slot, peer.ID)
			}
		}
		out = append(out, slot)
	}
	return out, nil
}

// close has the importing end own the slots, then the other, which refuses that for as long
// as it holds keys of them. That others are told saves clients a detour; they learn it anyway.
func (b *batch) close(ctx context.Context) error {
	for _, end := range []End{b.To, b.From} {
		if err := b.setSlots(ctx, end.Address, b.slots, "NODE", b.To.ID); err != nil {
			return err
		}
	}
	var telling sync.WaitGroup
	for _, address := range b.plan.Tell {
		if address != b.To.Address && address != b.From.Address {
			telling.Go(func() { _ = b.setSlots(ctx, address, b.slots, "NODE", b.To.ID) }) // see above
		}
	}
	telling.Wait()
	return nil
}

func (b *batch) setSlots(ctx context.Context, address string, slots []int, state, id string) error {
	commands := make([]Command, len(slots))
	for i, slot := range slots {
		commands[i] = clusterCommand("SETSLOT", slot, state, id)
	}
	_, err := b.do(ctx, address, commands...)
	return err
}

func (b *batch) do(ctx context.Context, address string, commands ...Command) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return b.Do(ctx, address, commands...)
}
