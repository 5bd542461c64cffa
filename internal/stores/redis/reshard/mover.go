// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// mover moves slots in batches: by jobs of the servers if the plan says so, else with commands that all versions have.
// Only the servers hold the state of a move. A new plan continues an interrupted move.
type mover struct {
	use   func() (server.Store, func(), error)
	clock clock.WithTicker
	note  func(func(*Progress))
	plan  MoveSlots
	mu    sync.Mutex // protects plan.Bare
	// giving is locked while slots change hands. Two destinations at a time would outbid each other's epochs, and sync the
	// disk each time (cluster.c, clusterBumpConfigEpochWithoutConsensus).
	giving chan struct{}
}

// lanes returns the number of connections over which commands to one process are spread.
func (m *mover) lanes() int {
	if m.plan.Spread {
		return mostLanes
	}
	return 1
}

// pause waits for as long as the plan's rate requires after moving bytes.
func (m *mover) pause(ctx context.Context, bytes int64) error {
	if m.plan.BytesPerSecond <= 0 {
		return ctx.Err()
	}
	return m.sleep(ctx, time.Duration(float64(time.Second)*float64(bytes)/float64(m.plan.BytesPerSecond)))
}

func (m *mover) sleep(ctx context.Context, d time.Duration) error {
	timer := m.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bytesPerSlot returns the plan's estimate of the size of a slot.
func (m *mover) bytesPerSlot() int64 {
	slots := 0
	for _, move := range m.plan.Moves {
		slots += move.Slots.Len()
	}
	return m.plan.Bytes / int64(max(1, slots))
}
