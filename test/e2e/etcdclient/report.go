// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"fmt"
	"time"
)

// Report holds the numbers of requests, and the failures.
type Report struct {
	Requests int // of the client's workers
	Attempts int // requests to members
	Unknown  int // attempts without a response
	Writes   int // acknowledged
	Events   int // received by watches
	Failed   []Failure
	Longest  time.Duration // longest time of a request
}

// Failure is a request that no member answered within the client's patience.
type Failure struct {
	At, Took time.Duration
	Kind     Kind
	Err      error
}

// String formats the report as one line.
func (r *Report) String() string {
	return fmt.Sprintf("%d requests in %d attempts (%d without an answer), %d writes acknowledged, %d events, longest %s, %d failed",
		r.Requests, r.Attempts, r.Unknown, r.Writes, r.Events, r.Longest.Round(time.Millisecond), len(r.Failed))
}

// count fills in the numbers from the history.
func (r *Report) count(h *History) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.Attempts = len(h.Ops)
	for i := range h.Ops {
		if h.Ops[i].wrote() {
			r.Writes++
		}
		if !h.Ops[i].Known {
			r.Unknown++
		}
	}
	for _, w := range h.Watches {
		r.Events += len(w.Events)
	}
}
