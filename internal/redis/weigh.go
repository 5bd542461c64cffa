// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

const (
	// mostOfAKey is how many bytes a key may have for its slot to go by keys: both ends serve nobody while it is on its way,
	// and no server takes one whose dump has more than 512 MB (proto-max-bulk-len).
	mostOfAKey = 256 << 20
	// mostWeighed are the keys of a slot that are weighed before it is opened: others go if servers take them, as a slot
	// must not stay half moved. weighedAtOnce are those of one round trip.
	mostWeighed, weighedAtOnce = 10_000, 1000
	// mostToldOfAKey is how many bytes of a key stand in an error.
	mostToldOfAKey = 100
)

// LargeKeyError tells of a key that does not go by MIGRATE.
type LargeKeyError struct {
	Key   string
	Bytes int64
}

func (e *LargeKeyError) Error() string {
	key := strconv.Quote(e.Key)
	if len(e.Key) > mostToldOfAKey {
		key = strconv.Quote(e.Key[:mostToldOfAKey]) + "..."
	}
	return fmt.Sprintf("key %s keeps its slot from being moved, as it has %d MiB and may have %d: delete it or make it smaller; "+
		"where all servers are Valkey 9.1.2 or later slots move without this bound", key, e.Bytes>>20, mostOfAKey>>20)
}

// leaveOut has slots with a key that is too large not be opened. The error tells of the first.
func (b *batch) leaveOut(ctx context.Context) (large, err error) {
	if small, err := b.small(ctx); small || err != nil {
		return nil, err
	}
	var fit []int
	for _, slot := range b.slots {
		err := b.weigh(ctx, slot)
		switch _, is := errors.AsType[*LargeKeyError](err); {
		case err == nil:
			fit = append(fit, slot)
		case !is:
			return nil, err
		case large == nil:
			large = err
		}
	}
	b.slots = fit
	return large, nil
}

// small tells whether all that the owner has is less than what is too large.
func (b *batch) small(ctx context.Context) (bool, error) {
	answers, err := b.do(ctx, b.From.Address, Command{"INFO", "memory"})
	if err != nil {
		return false, err
	}
	used, err := strconv.ParseInt(fields(text(answers[0]))["used_memory"], 10, 64)
	return err == nil && used <= mostOfAKey, nil
}

// weigh asks for the sizes of the keys of a slot.
func (b *batch) weigh(ctx context.Context, slot int) error {
	answers, err := b.do(ctx, b.From.Address, clusterCommand("GETKEYSINSLOT", slot, mostWeighed))
	if err != nil {
		return err
	}
	keys, _ := answers[0].([]any)
	for some := range slices.Chunk(keys, weighedAtOnce) {
		sizes, err := b.sizes(ctx, some)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(sizes, func(bytes int64) bool { return bytes > mostOfAKey }); i >= 0 {
			return &LargeKeyError{Key: text(some[i]), Bytes: sizes[i]}
		}
	}
	return nil
}

// sizes are those of keys, in bytes, 0 of one that has expired.
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
