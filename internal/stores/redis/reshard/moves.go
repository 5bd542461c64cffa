// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// ErrMoving reports that slots of the cluster are already being moved.
var ErrMoving = errors.New("slots of this cluster are already being moved")

// Moves runs the slot moves of one cluster, one after the other.
type Moves struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil while no move is running
	last   *Progress
}

// Progress returns a copy of the progress of the latest move; nil if there was none.
func (m *Moves) Progress() *Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		return nil
	}
	out := *m.last
	return &out
}

// Begin registers a move and returns true, or returns false if a move is already running. Stop calls cancel to end the
// move.
func (m *Moves) Begin(plan MoveSlots, now time.Time, cancel context.CancelFunc) bool {
	progress := Progress{Goal: plan.Goal, Shards: plan.Shards, BytesPerSecond: plan.BytesPerSecond, Estimate: plan.Bytes, Began: now}
	for _, move := range plan.Moves {
		progress.Slots += move.Slots.Len()
	}
	return m.begin(progress, cancel)
}

// Run executes the registered move until all slots are moved or ctx ends. use returns a connection and a function that
// releases the connection.
func (m *Moves) Run(ctx context.Context, plan MoveSlots, use func() (server.Store, func(), error), clock clock.WithTicker) {
	err := (&mover{use: use, clock: clock, note: m.note, plan: plan}).run(ctx)
	m.end(clock.Now(), err)
}

// Stop ends the running move soon: between two batches, or when its current slots are complete.
func (m *Moves) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancel != nil {
		m.last.Stopping = true
		m.cancel()
	}
}

func (m *Moves) begin(progress Progress, cancel context.CancelFunc) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancel != nil {
		return false
	}
	if m.last != nil {
		progress.Failures = m.last.Failures
	}
	m.cancel, m.last = cancel, &progress
	return true
}

func (m *Moves) note(change func(*Progress)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m.last)
}

func (m *Moves) end(at time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancel()
	m.cancel, m.last.Ended, m.last.EndedAt, m.last.Err = nil, true, at, err
	m.last.Failures = m.last.failures()
}
