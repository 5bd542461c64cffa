// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

const (
	// mostLanes are the connections over which commands to one process are spread. Valkey since 8.0 answers a SETSLOT once
	// its replicas have it, and reads nothing else from that connection until then; those of several connections go to the
	// replicas together (cluster_legacy.c, clusterCommandSetSlot).
	mostLanes = 32
	// perLane is how many commands one connection takes at least: another would cost more than it saves.
	perLane = 8
	// pipelined are those that one connection takes at a time.
	pipelined = 1024
)

// spread sends commands whose order is of no matter, over so many connections, and reports the first error. Where there
// is one, no one knows which of the others were carried out.
func spread(ctx context.Context, store Store, lanes int, address string, commands []Command) error {
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
