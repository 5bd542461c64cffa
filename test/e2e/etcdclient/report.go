// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"fmt"
	"time"
)

// Report has the numbers of requests, and the failures.
type Report struct {
	Requests int // of the client's user
	Attempts int // at members
	Unknown  int // attempts without an answer
	Writes   int // acknowledged
	Events   int // that watches were informed of
	Failed   []Failure
	Longest  time.Duration // that a request took
}

// Failure is a request that no attempt could serve within the client's patience.
type Failure struct {
	At, Took time.Duration
	Kind     Kind
	Err      error
}

// String is the report in one line.
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
