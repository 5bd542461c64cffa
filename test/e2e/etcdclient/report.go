// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"fmt"
	"time"
)

// Report contains the numbers of requests of a client, and its failed requests.
type Report struct {
	Requests int // requests of workers
	Attempts int // requests that were sent to members, including retries
	Unknown  int // attempts without a response
	Writes   int // acknowledged writes
	Events   int // events that watches received
	Failed   []Failure
	Longest  time.Duration // duration of the longest request
}

// Failure is a request to which no member responded within the client's Patience.
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

// count counts the requests and events that a History has recorded.
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
