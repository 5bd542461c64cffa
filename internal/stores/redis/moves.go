// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrMoving reports that slots of the cluster are being moved already.
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

// start reports whether none goes on, and if so that one does now.
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
func (l *looker) beginMove(step MoveSlots) error {
	ctx, cancel := context.WithCancel(context.Background())
	claim := func() error {
		if !l.moves.start(l.progressOf(step), cancel) {
			cancel()
			return ErrMoving
		}
		return nil
	}
	err := l.Background(claim, func(lasting context.Context) {
		defer context.AfterFunc(lasting, cancel)()
		err := (&mover{use: l.Use, clock: l.Clock(), note: l.moves.note, plan: step}).run(ctx)
		l.moves.end(l.Clock().Now(), err)
		l.Wake()
	})
	if err == nil {
		l.Outdate()
	}
	return err
}

func (l *looker) progressOf(step MoveSlots) Progress {
	progress := Progress{Goal: step.Goal, Shards: step.Shards, BytesPerSecond: step.BytesPerSecond, Estimate: step.Bytes, Began: l.Clock().Now()}
	for _, move := range step.Moves {
		progress.Slots += move.Slots.Len()
	}
	return progress
}

// End stops a move: between two batches, or with what of a batch is under way.
func (l *looker) End() {
	l.moves.stop()
	l.Outdate()
}
