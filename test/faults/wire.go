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

// errCrashed is the error that every request of a crashed process gets.
var errCrashed = errors.New("faults: this process has crashed")

// fault is a fault of one write. It decides whether to send the write to the server, and which response the operator
// gets.
type fault func(send func() (*http.Response, error)) (*http.Response, error)

// wire handles the requests of all operator processes in a run. It records their writes in order, and applies faults to
// them.
type wire struct {
	journal *journal
	gate    *gate

	mu     sync.Mutex
	writes []*write
	befall func(*write, *instance) fault // returns the fault of a write; nil if no write has a fault
	busy   int                           // number of counted requests in progress
	last   time.Time                     // when the last counted request started or ended
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

// silent returns the time since the operator's last counted request.
func (w *wire) silent() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy > 0 {
		return 0
	}
	return time.Since(w.last)
}

// all returns the writes that the operator has sent.
func (w *wire) all() []*write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clip(w.writes)
}

// on sets the function that returns the fault for each later write.
func (w *wire) on(befall func(*write, *instance) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.befall = befall
}

// both is a response body that reads from one source and closes another.
type both struct {
	io.Reader
	io.Closer
}
