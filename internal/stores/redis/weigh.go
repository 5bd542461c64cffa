// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
)

const (
	// mostOfAKey is how many bytes a key may have for its slot to go by keys: both ends serve no one while it is on its way,
	// and no server takes one whose dump has more than 512 MB (proto-max-bulk-len).
	mostOfAKey = 256 << 20
	// mostWeighed are the keys of a slot that are weighed before it is opened: others go if servers take them, as a slot
	// must not stay half moved.
	mostWeighed = 10_000
	// weighedTogether are the slots whose keys are asked for at a time.
	weighedTogether = 32
	// mostToldOfAKey is how many bytes of a key stand in an error.
	mostToldOfAKey = 100
)

// LargeKeyError reports a key that does not go by MIGRATE.
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

// leaveOut has slots with a key that is too large not be opened. The error reports the first.
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

// small reports whether all that the owner has is less than what is too large.
func (b *batch) small(ctx context.Context) (bool, error) {
	answers, err := b.do(ctx, b.From.Address, Command{"INFO", "memory"})
	if err != nil {
		return false, err
	}
	used, err := strconv.ParseInt(fields(text(answers[0]))["used_memory"], 10, 64)
	return err == nil && used <= mostOfAKey, nil
}

// weigh asks for the sizes of the keys of slots, and says which slots have none that is too large. The error that it
// reports besides is of the first that is.
func (b *batch) weigh(ctx context.Context, slots []int) (light []int, tooLarge, err error) {
	commands := make([]Command, len(slots))
	for i, slot := range slots {
		commands[i] = clusterCommand("GETKEYSINSLOT", slot, mostWeighed)
	}
	answers, err := b.do(ctx, b.From.Address, commands...)
	if err != nil {
		return nil, nil, err
	}
	for i, slot := range slots {
		keys, _ := answers[i].([]any)
		sizes, err := b.sizes(ctx, keys)
		if err != nil {
			return nil, nil, err
		}
		if k := slices.IndexFunc(sizes, func(bytes int64) bool { return bytes > mostOfAKey }); k >= 0 {
			tooLarge = cmp.Or(tooLarge, error(&LargeKeyError{Key: text(keys[k]), Bytes: sizes[k]}))
			continue
		}
		light = append(light, slot)
	}
	return light, tooLarge, nil
}

// sizes are those of keys, in bytes, 0 of one that has expired.
func (b *batch) sizes(ctx context.Context, keys []any) ([]int64, error) {
	out := make([]int64, 0, len(keys))
	for some := range slices.Chunk(keys, pipelined) {
		commands := make([]Command, len(some))
		for i, key := range some {
			commands[i] = Command{"MEMORY", "USAGE", key}
		}
		answers, err := b.do(ctx, b.From.Address, commands...)
		if err != nil {
			return nil, err
		}
		for _, answer := range answers {
			size, _ := answer.(int64) // nil for one that has expired
			out = append(out, size)
		}
	}
	return out, nil
}
