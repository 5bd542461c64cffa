// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
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
// were the last to learn of it, and were lost before, nobody would own the slot.
func (b *batch) carry(ctx context.Context) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	if err := b.empty(ctx); err != nil {
		return err
	}
	if err := b.close(ctx); err != nil {
		return err
	}
	b.note(func(p *Progress) { p.Moved += len(b.slots) })
	return nil
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

func (b *batch) open(ctx context.Context) error {
	if err := b.setSlots(ctx, b.To.Address, "IMPORTING", b.From.ID); err != nil {
		return err
	}
	return b.setSlots(ctx, b.From.Address, "MIGRATING", b.To.ID)
}

// close has the importing end own the slots, then the other, which refuses that for as long
// as it holds keys of them. That others are told saves clients a detour; they learn it anyway.
func (b *batch) close(ctx context.Context) error {
	for _, end := range []End{b.To, b.From} {
		if err := b.setSlots(ctx, end.Address, "NODE", b.To.ID); err != nil {
			return err
		}
	}
	var telling sync.WaitGroup
	for _, address := range b.plan.Tell {
		if address != b.To.Address && address != b.From.Address {
			telling.Go(func() { _ = b.setSlots(ctx, address, "NODE", b.To.ID) }) // see above
		}
	}
	telling.Wait()
	return nil
}

func (b *batch) setSlots(ctx context.Context, address, state, id string) error {
	commands := make([]Command, len(b.slots))
	for i, slot := range b.slots {
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
