// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

const (
	// mostOfAKey is the maximum size, in bytes, of a key that is moved with MIGRATE. During MIGRATE, neither server
	// answers clients, and no server accepts a dump of more than 512 MB (proto-max-bulk-len).
	mostOfAKey = 256 << 20
	// mostWeighed is how many keys of a slot are measured before the move starts. Keys beyond that number are moved if
	// the servers accept them, because a slot must not stay half moved.
	mostWeighed = 10_000
	// weighedTogether is the number of slots whose keys are listed in one request.
	weighedTogether = 8
	// mostOfAName is how many bytes of a key's name an error shows.
	mostOfAName = 100
)

// LargeKeyError reports a key that is too large for MIGRATE.
type LargeKeyError struct {
	Key   string
	Bytes int64
}

func (e *LargeKeyError) Error() string {
	key := strconv.Quote(e.Key)
	if len(e.Key) > mostOfAName {
		key = strconv.Quote(e.Key[:mostOfAName]) + "..."
	}
	return fmt.Sprintf("key %s is too large to be moved with its slot: it has %d MiB, and the limit is %d MiB; delete the key or make it smaller, "+
		"or run Valkey 9.1.2 or later on all servers, which has no such limit", key, e.Bytes>>20, mostOfAKey>>20)
}

// leaveOut removes a slot from the batch if one of its keys is too large. large is an error about the first such key.
func (b *batch) leaveOut(ctx context.Context) (large, err error) {
	if small, err := b.small(ctx); small || err != nil {
		return nil, err
	}
	counts, err := countKeys(ctx, b.Store, b.From.Address, b.slots)
	if err != nil {
		return nil, err
	}
	var fit, heavy []int
	for i, slot := range b.slots {
		if counts[i] > 0 {
			heavy = append(heavy, slot)
			continue
		}
		fit = append(fit, slot)
	}
	for some := range slices.Chunk(heavy, weighedTogether) {
		light, tooLarge, err := b.weigh(ctx, some)
		if err != nil {
			return nil, err
		}
		fit, large = append(fit, light...), cmp.Or(large, tooLarge)
	}
	slices.Sort(fit)
	b.slots = fit
	return large, nil
}

// small reports whether the source uses so little memory that none of its keys can be too large.
func (b *batch) small(ctx context.Context) (bool, error) {
	answers, err := b.do(ctx, b.From.Address, server.Command{"INFO", "memory"})
	if err != nil {
		return false, err
	}
	used, err := strconv.ParseInt(server.Fields(server.Text(answers[0]))["used_memory"], 10, 64)
	return err == nil && used <= mostOfAKey, nil
}

// weigh measures the keys of slots, and returns the slots in which no key is too large (light). tooLarge is an error
// about the first key that is too large.
func (b *batch) weigh(ctx context.Context, slots []int) (light []int, tooLarge, err error) {
	listed, err := b.list(ctx, slots, mostWeighed)
	if err != nil {
		return nil, nil, err
	}
	for i, slot := range slots {
		keys := listed[i]
		sizes, err := b.sizes(ctx, keys)
		if err != nil {
			return nil, nil, err
		}
		if k := slices.IndexFunc(sizes, func(bytes int64) bool { return bytes > mostOfAKey }); k >= 0 {
			tooLarge = cmp.Or(tooLarge, error(&LargeKeyError{Key: server.Text(keys[k]), Bytes: sizes[k]}))
			continue
		}
		light = append(light, slot)
	}
	return light, tooLarge, nil
}

// sizes returns the sizes of keys in bytes; 0 for a key that has expired.
func (b *batch) sizes(ctx context.Context, keys []any) ([]int64, error) {
	out := make([]int64, 0, len(keys))
	for some := range slices.Chunk(keys, pipelined) {
		commands := make([]server.Command, len(some))
		for i, key := range some {
			commands[i] = server.Command{"MEMORY", "USAGE", key}
		}
		answers, err := b.do(ctx, b.From.Address, commands...)
		if err != nil {
			return nil, err
		}
		for _, answer := range answers {
			size, _ := answer.(int64) // the answer is nil if the key has expired
			out = append(out, size)
		}
	}
	return out, nil
}
