// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrMoving tells that slots of the cluster are being moved already.
var ErrMoving = errors.New("slots are being moved already")

// moves are the moves of slots of one cluster: one at a time.
type moves struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil while none goes on
	last   *Progress
}

// progress is a copy of how far the last one is.
func (m *moves) progress() *Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		return nil
	}
	out := *m.last
	return &out
}

// note changes that.
func (m *moves) note(change func(*Progress)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m.last)
}

// start tells whether none goes on, and if so that one does now.
func (m *moves) start(progress Progress, cancel context.CancelFunc) bool {
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

func (m *moves) end(at time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancel()
	m.cancel, m.last.Ended, m.last.EndedAt, m.last.Err = nil, true, at, err
	m.last.Failures = m.last.failures()
}

// stop has the one that goes on end soon.
func (m *moves) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancel != nil {
		m.last.Stopping = true
		m.cancel()
	}
}

// beginMove begins one in the background, until it is stopped, the cluster is forgotten or
// the prober ends.
func (c *cluster) beginMove(step MoveSlots) error {
	c.Prober.mu.Lock() // whoever saw the context alive has counted itself in
	defer c.Prober.mu.Unlock()
	if c.Prober.ctx.Err() != nil {
		return ErrNotWatched
	}
	ctx, cancel := context.WithCancel(c.Prober.ctx)
	progress := Progress{Goal: step.Goal, Shards: step.Shards, BytesPerSecond: step.BytesPerSecond, Estimate: step.Bytes, Began: c.clock.Now()}
	for _, move := range step.Moves {
		progress.Slots += move.Slots.Len()
	}
	if !c.moves.start(progress, cancel) {
		cancel()
		return ErrMoving
	}
	c.running.Go(func() {
		err := (&mover{use: c.use, clock: c.clock, note: c.moves.note, plan: step}).run(ctx)
		c.moves.end(c.clock.Now(), err)
		c.wake()
	})
	c.outdate()
	return nil
}

// stopMove ends it: between two batches, or with what of a batch is under way.
func (c *cluster) stopMove() {
	c.moves.stop()
	c.outdate()
}

// outdate has the View be Stale until the next look, which comes at once.
func (c *cluster) outdate() {
	c.stepped()
	c.stepped()
	c.wake()
}
