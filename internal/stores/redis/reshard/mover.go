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

// mover moves slots in batches: by jobs of the servers if the plan says so, else with commands that all versions have. The
// state of a move is in the servers only. A move that was interrupted is continued by a new plan.
type mover struct {
	use   func() (server.Store, func(), error)
	clock clock.WithTicker
	note  func(func(*Progress))
	plan  MoveSlots
	mu    sync.Mutex // of plan.Bare
	// giving is held while slots change hands. Two destinations at a time would outbid each other's epochs, and sync the disk
	// each time (cluster.c, clusterBumpConfigEpochWithoutConsensus).
	giving chan struct{}
}

// lanes is the number of connections over which commands to one process are spread.
func (m *mover) lanes() int {
	if m.plan.Spread {
		return mostLanes
	}
	return 1
}

// pause keeps to the rate of the plan.
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

// bytesPerSlot is the estimate of the plan.
func (m *mover) bytesPerSlot() int64 {
	slots := 0
	for _, move := range m.plan.Moves {
		slots += move.Slots.Len()
	}
	return m.plan.Bytes / int64(max(1, slots))
}
