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

// mover moves the slots of a plan in batches: with jobs if the plan says so, otherwise with commands that all versions
// have. Only the servers store the state of a move, so a new plan can continue an interrupted move.
type mover struct {
	use   func() (server.Store, func(), error)
	clock clock.WithTicker
	note  func(func(*Progress))
	plan  MoveSlots
	mu    sync.Mutex // protects plan.Bare
	// giving is locked while slots change their owner. If slots changed their owner at two destinations at the same
	// time, each would raise its epoch above the other's, and sync its disk each time (cluster.c,
	// clusterBumpConfigEpochWithoutConsensus).
	giving chan struct{}
}

// lanes returns the number of connections over which commands to one server are spread.
func (m *mover) lanes() int {
	if m.plan.Spread {
		return mostLanes
	}
	return 1
}

// pause waits as long as the plan's rate limit requires after moving the given number of bytes.
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

// bytesPerSlot returns the estimated bytes per slot, from the plan's total.
func (m *mover) bytesPerSlot() int64 {
	slots := 0
	for _, move := range m.plan.Moves {
		slots += move.Slots.Len()
	}
	return m.plan.Bytes / int64(max(1, slots))
}
