// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"net"
)

const (
	// keysAtOnce and bytesAtOnce bound one MIGRATE: both ends serve nobody meanwhile.
	keysAtOnce  = 100
	bytesAtOnce = 1 << 20
	// migrateTimeout is how long one end waits for the other, in milliseconds.
	migrateTimeout = 5000
)

// batch is some slots of a move.
type batch struct {
	*mover
	Store
	Move
	slots []int
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
	for _, address := range b.plan.Tell {
		if address != b.To.Address && address != b.From.Address {
			_ = b.setSlots(ctx, address, "NODE", b.To.ID) // see above
		}
	}
	return nil
}

func (b *batch) setSlots(ctx context.Context, address, state, id string) error {
	commands := make([]Command, len(b.slots))
	for i, slot := range b.slots {
		commands[i] = Command{"CLUSTER", "SETSLOT", slot, state, id}
	}
	_, err := b.do(ctx, address, commands...)
	return err
}

// empty moves the keys of a slot until there are none: while it is open, no new ones appear.
func (b *batch) empty(ctx context.Context, slot int) error {
	for {
		answers, err := b.do(ctx, b.From.Address, Command{"CLUSTER", "GETKEYSINSLOT", slot, keysAtOnce})
		if err != nil {
			return err
		}
		keys, _ := answers[0].([]any)
		if len(keys) == 0 {
			return nil
		}
		if err := b.move(ctx, keys); err != nil {
			return err
		}
	}
}

// move moves keys, and then as much later the next ones as the rate wants.
func (b *batch) move(ctx context.Context, keys []any) error {
	sizes, err := b.sizes(ctx, keys)
	if err != nil {
		return err
	}
	for len(keys) > 0 {
		n, bytes := fitting(sizes)
		if err := b.migrate(ctx, keys[:n]); err != nil {
			return err
		}
		b.note(func(p *Progress) { p.Keys, p.Bytes = p.Keys+int64(n), p.Bytes+bytes })
		if err := b.pause(ctx, bytes); err != nil {
			return err
		}
		keys, sizes = keys[n:], sizes[n:]
	}
	return nil
}

// sizes are the bytes that keys take in memory, 0 for one that has expired.
func (b *batch) sizes(ctx context.Context, keys []any) ([]int64, error) {
	commands := make([]Command, len(keys))
	for i, key := range keys {
		commands[i] = Command{"MEMORY", "USAGE", key}
	}
	answers, err := b.do(ctx, b.From.Address, commands...)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(keys))
	for i, answer := range answers {
		out[i], _ = answer.(int64) // nil for one that has expired
	}
	return out, nil
}

// fitting is how many of the first go at once, at least one, and their bytes.
func fitting(sizes []int64) (n int, bytes int64) {
	for _, size := range sizes {
		if n > 0 && bytes+size > bytesAtOnce {
			break
		}
		n, bytes = n+1, bytes+size
	}
	return n, bytes
}

// migrate replaces what the other end has of the keys. The end that they come from is the
// one that serves a key for as long as it has it: a copy at the other end is what an earlier
// MIGRATE has left whose answer was lost.
func (b *batch) migrate(ctx context.Context, keys []any) error {
	host, port, err := net.SplitHostPort(b.To.Address)
	if err != nil {
		return err
	}
	command := Command{"MIGRATE", host, port, "", 0, migrateTimeout, "REPLACE"}
	if by := b.Credentials(); by.Password != "" {
		command = append(command, "AUTH2", by.User, by.Password)
	}
	_, err = b.do(ctx, b.From.Address, append(append(command, "KEYS"), keys...))
	return err
}

func (b *batch) do(ctx context.Context, address string, commands ...Command) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return b.Do(ctx, address, commands...)
}
