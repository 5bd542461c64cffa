// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// list returns keys of each slot, at most the given number per slot. If the answer is larger than the operator accepts,
// list requests fewer slots or keys per command, because key names may be long.
func (b *batch) list(ctx context.Context, slots []int, most int) ([][]any, error) {
	out, err := b.ask(ctx, slots, most)
	switch half := len(slots) / 2; {
	case err == nil || !server.TooLarge(err) || half == 0 && most == 1:
		return out, err
	case half == 0:
		return b.list(ctx, slots, max(1, most/10))
	default:
		first, err := b.list(ctx, slots[:half], most)
		if err != nil {
			return nil, err
		}
		second, err := b.list(ctx, slots[half:], most)
		return append(first, second...), err
	}
}

// ask requests keys in one round trip. It returns an error if the server has become a replica, because the new primary
// may have new keys.
func (b *batch) ask(ctx context.Context, slots []int, most int) ([][]any, error) {
	commands := make([]server.Command, len(slots))
	for i, slot := range slots {
		commands[i] = server.ClusterCommand("GETKEYSINSLOT", slot, most)
	}
	answers, err := b.do(ctx, b.From.Address, append(commands, server.Command{"ROLE"})...)
	if err != nil {
		return nil, err
	}
	if role, ok := answers[len(slots)].([]any); !ok || len(role) == 0 || server.Text(role[0]) != "master" {
		return nil, fmt.Errorf("%s is no longer a primary", b.From.Address)
	}
	out := make([][]any, len(slots))
	for i, answer := range answers[:len(slots)] {
		out[i], _ = answer.([]any)
	}
	return out, nil
}
