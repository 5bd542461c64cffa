// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// errCrashed is the error of every call of a crashed process.
var errCrashed = errors.New("faults: this process has crashed")

// fault handles one write: it decides whether to send the write to the server, and what response the operator receives.
type fault func(send func() (*http.Response, error)) (*http.Response, error)

// wire carries the requests of all operator processes of one run. It records their writes
// in order and applies faults to them.
type wire struct {
	journal *journal
	gate    *gate

	mu     sync.Mutex
	writes []*write
	befall func(*write, *instance) fault // nil if writes have no fault
	busy   int                           // counted calls in flight
	last   time.Time                     // when the last counted call began or ended
}

func newWire(j *journal) *wire { return &wire{journal: j, gate: newGate(), last: time.Now()} }

func (w *wire) begins() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy++
	w.last = time.Now()
}

func (w *wire) ends() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.last = time.Now()
}

// silent returns how long the operator has made no counted call.
func (w *wire) silent() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy > 0 {
		return 0
	}
	return time.Since(w.last)
}

// all returns the writes so far.
func (w *wire) all() []*write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clip(w.writes)
}

// on sets the fault for all writes from now on.
func (w *wire) on(befall func(*write, *instance) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.befall = befall
}

// both is a body that reads from one source and closes another.
type both struct {
	io.Reader
	io.Closer
}
