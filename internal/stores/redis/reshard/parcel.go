// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"net"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

const (
	// keysAtOnce and bytesAtOnce limit the size of one MIGRATE command, because neither server answers clients while it
	// runs.
	keysAtOnce  = 100
	bytesAtOnce = 1 << 20
	// parcelsAtOnce limits how many MIGRATE commands with only a key or two are sent in one go. Each needs a round trip
	// between the servers.
	parcelsAtOnce = 100
	// migrateTimeout is how long one server waits for the other, in milliseconds.
	migrateTimeout = 5000
)

// parcel is a set of keys of one slot that one command moves, with their total size.
type parcel struct {
	keys  []any
	bytes int64
}

// empty moves the keys of slots until none are left. It keeps to the plan's rate limit until the move is stopped.
// Servers add no new keys to slots that are being moved.
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
			_ = b.pause(paced, bytes) // when the move is stopped, pause returns at once
			parcels = parcels[n:]
		}
	}
}

// keys returns some keys of each slot that has any.
func (b *batch) keys(ctx context.Context, slots []int) ([][]any, error) {
	listed, err := b.list(ctx, slots, keysAtOnce)
	return slices.DeleteFunc(listed, func(keys []any) bool { return len(keys) == 0 }), err
}

// pack groups keys into parcels by their sizes. Each parcel has keys of one slot.
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

// fitting returns how many of the first parcels are sent together, at least one, and their total size in bytes.
func fitting(parcels []parcel) (n int, bytes int64) {
	for _, p := range parcels {
		if n > 0 && (bytes+p.bytes > bytesAtOnce || n >= parcelsAtOnce) {
			break
		}
		n, bytes = n+1, bytes+p.bytes
	}
	return n, bytes
}

// send moves parcels. It replaces keys that the destination already has: these are outdated copies, from an earlier
// command or a previous owner, because only the source serves a key until the key is moved.
func (b *batch) send(ctx context.Context, parcels []parcel) error {
	host, port, err := net.SplitHostPort(b.To.Address)
	if err != nil {
		return err
	}
	head := server.Command{"MIGRATE", host, port, "", 0, migrateTimeout, "REPLACE"}
	if by := b.Credentials(); by.Password != "" {
		head = append(head, "AUTH2", by.User, by.Password)
	}
	head = append(head, "KEYS")
	commands := make([]server.Command, len(parcels))
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
