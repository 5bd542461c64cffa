// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"net"
	"slices"
)

const (
	// keysAtOnce and bytesAtOnce bound what is moved at once: both ends serve no one meanwhile.
	keysAtOnce  = 100
	bytesAtOnce = 1 << 20
	// parcelsAtOnce bounds them where slots have a key or two each: each parcel is a round trip between the ends.
	parcelsAtOnce = 100
	// migrateTimeout is how long one end waits for the other, in milliseconds.
	migrateTimeout = 5000
)

// parcel is keys of one slot, which go by one command, and the bytes that they take.
type parcel struct {
	keys  []any
	bytes int64
}

// empty moves the keys of the slots until there are none: while a slot is open, no new ones
// appear. It keeps to the rate of the plan until the move is stopped.
func (b *batch) empty(ctx, paced context.Context, slots []int) error {
	for {
		keys, err := b.keys(ctx, slots)
		if err != nil || len(keys) == 0 {
			return err
		}
		parcels, err := b.pack(ctx, keys)
		if err != nil {
			return err
		}
		for len(parcels) > 0 {
			n, bytes := fitting(parcels)
			if err := b.send(ctx, parcels[:n]); err != nil {
				return err
			}
			_ = b.pause(paced, bytes) // who is stopped hurries
			parcels = parcels[n:]
		}
	}
}

// keys are some of each slot that has any. A process that follows another by now has none to tell of: keys that its new
// primary was given since would be lost if the slot were closed on its word.
func (b *batch) keys(ctx context.Context, slots []int) ([][]any, error) {
	commands := make([]Command, len(slots))
	for i, slot := range slots {
		commands[i] = clusterCommand("GETKEYSINSLOT", slot, keysAtOnce)
	}
	answers, err := b.do(ctx, b.From.Address, append(commands, Command{"ROLE"})...)
	if err != nil {
		return nil, err
	}
	if role, ok := answers[len(slots)].([]any); !ok || len(role) == 0 || text(role[0]) != "master" {
		return nil, fmt.Errorf("%s is no primary any more", b.From.Address)
	}
	var out [][]any
	for _, answer := range answers[:len(slots)] {
		if keys, _ := answer.([]any); len(keys) > 0 {
			out = append(out, keys)
		}
	}
	return out, nil
}

// pack asks how large keys are and makes parcels of them, each within one slot.
func (b *batch) pack(ctx context.Context, slots [][]any) ([]parcel, error) {
	sizes, err := b.sizes(ctx, slices.Concat(slots...))
	if err != nil {
		return nil, err
	}
	var out []parcel
	for _, keys := range slots {
		var now parcel
		for _, key := range keys {
			size := sizes[0]
			sizes = sizes[1:]
			if len(now.keys) > 0 && now.bytes+size > bytesAtOnce {
				out, now = append(out, now), parcel{}
			}
			now.keys, now.bytes = append(now.keys, key), now.bytes+size
		}
		out = append(out, now)
	}
	return out, nil
}

// fitting is how many of the first go at once, at least one, and their bytes.
func fitting(parcels []parcel) (n int, bytes int64) {
	for _, p := range parcels {
		if n > 0 && (bytes+p.bytes > bytesAtOnce || n >= parcelsAtOnce) {
			break
		}
		n, bytes = n+1, bytes+p.bytes
	}
	return n, bytes
}

// send moves parcels, and replaces what the other end has of their keys. The end that they
// come from is the one that serves a key for as long as it has it: a copy at the other end
// is what an earlier command has left whose answer was lost; or what an earlier owner had moved there, before one was
// elected who knew nothing of the move and had clients begin the key again. Of two such values none is right. Kept is the one
// that clients have been reading and writing since: to bring back the other would take from them what they see.
func (b *batch) send(ctx context.Context, parcels []parcel) error {
	host, port, err := net.SplitHostPort(b.To.Address)
	if err != nil {
		return err
	}
	head := Command{"MIGRATE", host, port, "", 0, migrateTimeout, "REPLACE"}
	if by := b.Credentials(); by.Password != "" {
		head = append(head, "AUTH2", by.User, by.Password)
	}
	head = append(head, "KEYS")
	commands := make([]Command, len(parcels))
	for i, p := range parcels {
		commands[i] = append(slices.Clip(head), p.keys...)
	}
	if _, err = b.do(ctx, b.From.Address, commands...); err != nil {
		return err
	}
	b.note(func(progress *Progress) {
		for _, p := range parcels {
			progress.Keys, progress.Bytes = progress.Keys+int64(len(p.keys)), progress.Bytes+p.bytes
		}
	})
	return nil
}
