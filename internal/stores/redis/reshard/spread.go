// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

const (
	// mostLanes limits the number of connections to one server. Since version 8.0, Valkey blocks a connection until its
	// replicas have executed a SETSLOT. SETSLOTs from several connections reach the replicas together
	// (cluster_legacy.c, clusterCommandSetSlot).
	mostLanes = server.MostLanes
	// perLane is the minimum number of commands per connection. With fewer, an additional connection costs more than it
	// saves.
	perLane = 8
	// pipelined is how many commands are sent over one connection before their answers are read.
	pipelined = 1024
)

// spread sends commands in any order over several connections, and returns the first error. After an error, any of the
// commands may have been executed.
func spread(ctx context.Context, store server.Store, lanes int, address string, commands []server.Command) error {
	each := min(pipelined, max(perLane, (len(commands)+lanes-1)/lanes))
	if lanes == 1 {
		each = pipelined
	}
	parts := slices.Collect(slices.Chunk(commands, each))
	errs := make([]error, len(parts))
	for first := 0; first < len(parts); first += lanes {
		var sending sync.WaitGroup
		for i := first; i < min(len(parts), first+lanes); i++ {
			sending.Go(func() { _, errs[i] = within(ctx, store, address, parts[i]...) })
		}
		sending.Wait()
		if err := cmp.Or(errs...); err != nil {
			return err
		}
	}
	return nil
}

// countKeys returns how many keys of each slot a server has.
func countKeys(ctx context.Context, store server.Store, address string, slots []int) ([]int64, error) {
	out := make([]int64, 0, len(slots))
	for some := range slices.Chunk(slots, closedTogether) {
		commands := make([]server.Command, len(some))
		for i, slot := range some {
			commands[i] = server.ClusterCommand("COUNTKEYSINSLOT", slot)
		}
		answers, err := within(ctx, store, address, commands...)
		if err != nil {
			return nil, err
		}
		for _, answer := range answers {
			keys, ok := answer.(int64)
			if !ok {
				return nil, fmt.Errorf("%s: CLUSTER COUNTKEYSINSLOT: %v is not a number", address, answer)
			}
			out = append(out, keys)
		}
	}
	return out, nil
}

// within calls Do with the timeout of a command of a move.
func within(ctx context.Context, store server.Store, address string, commands ...server.Command) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return store.Do(ctx, address, commands...)
}
