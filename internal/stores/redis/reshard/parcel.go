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
	// keysAtOnce and bytesAtOnce limit the size of one MIGRATE command, because both ends serve no client while it runs.
	keysAtOnce  = 100
	bytesAtOnce = 1 << 20
	// parcelsAtOnce limits how many parcels with only a key or two are sent at once: each is a round trip between the
	// ends.
	parcelsAtOnce = 100
	// migrateTimeout is how long one end waits for the other, in milliseconds.
	migrateTimeout = 5000
)

// parcel is a set of keys of one slot that are moved by one command, with their total size.
type parcel struct {
	keys  []any
	bytes int64
}

// empty moves the keys of slots until there are none, as no new keys appear in open slots. It keeps to the rate of the
// plan until the move is stopped.
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
			_ = b.pause(paced, bytes) // a move that is stopped does not wait
			parcels = parcels[n:]
		}
	}
}

// keys are some keys of each slot that has any.
func (b *batch) keys(ctx context.Context, slots []int) ([][]any, error) {
	listed, err := b.list(ctx, slots, keysAtOnce)
	return slices.DeleteFunc(listed, func(keys []any) bool { return len(keys) == 0 }), err
}

// pack groups keys into parcels by their sizes, each within one slot.
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

// fitting returns how many of the first parcels are sent together, at least one, and their total size.
func fitting(parcels []parcel) (n int, bytes int64) {
	for _, p := range parcels {
		if n > 0 && (bytes+p.bytes > bytesAtOnce || n >= parcelsAtOnce) {
			break
		}
		n, bytes = n+1, bytes+p.bytes
	}
	return n, bytes
}

// send moves parcels, and replaces keys that the other end has already. These are older, from an earlier command or
// from an owner that was replaced: while a key is at this end, this end serves it.
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
