// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"slices"
	"sync"
	"time"
)

// Kind is the type of a request, such as put.
type Kind string

// The types of requests.
const (
	Put  Kind = "put"
	Get  Kind = "get"
	Swap Kind = "swap"
)

// Op is one attempt to send a request to a member.
type Op struct {
	Client int
	Kind   Kind
	Key    string
	Value  string // value to write; different in every attempt
	Expect string // value that a swap must replace; "" for none
	Member string // URL of the member that received the request
	Call   time.Duration
	Return time.Duration
	Known  bool // a response arrived
	Answer
}

// Answer is the response of a member to a request.
type Answer struct {
	Value       string // value that was read, or that a failed swap found; "" for none
	ModRevision int64  // revision of the last write to the key
	Swapped     bool
	Revision    int64  // revision of the store at the response; for a write, the revision of the write
	Cluster     uint64 // ID of the cluster that responded
}

// wrote reports whether the request certainly wrote its value.
func (o *Op) wrote() bool {
	return o.Known && (o.Kind == Put || o.Kind == Swap && o.Swapped)
}

// Event is a write that a watch received.
type Event struct {
	Revision int64
	Key      string
	Value    string
}

// Watch contains everything that one watch received, from all members to which it was connected.
type Watch struct {
	Name   string
	From   int64 // revision at which the watch starts
	Events []Event
	Ended  string // reason why the watch could not continue; empty if it could
}

// seen returns the last revision that the watch received.
func (w *Watch) seen() int64 {
	if len(w.Events) == 0 {
		return w.From - 1
	}
	return w.Events[len(w.Events)-1].Revision
}

// History records the requests and watches of a client.
type History struct {
	mu      sync.Mutex
	begin   time.Time
	newest  int64 // highest acknowledged revision
	Ops     []Op
	Watches []*Watch
}

func newHistory() *History { return &History{begin: time.Now()} }

// now returns the time since the start of the client. The check orders operations by this time.
func (h *History) now() time.Duration { return time.Since(h.begin) }

func (h *History) add(op Op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Ops = append(h.Ops, op)
	if op.wrote() {
		h.newest = max(h.newest, op.Revision)
	}
}

func (h *History) watch(name string, from int64) *Watch {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &Watch{Name: name, From: from}
	h.Watches = append(h.Watches, w)
	return w
}

func (h *History) heard(w *Watch, events ...Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Events = append(w.Events, events...)
}

func (h *History) ended(w *Watch, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Ended = why
}

// behind returns the names of the watches that have not received the write with the given revision.
func (h *History) behind(revision int64) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, w := range h.Watches {
		if w.seen() < revision {
			out = append(out, w.Name)
		}
	}
	return out
}

// received returns the number of events that a watch has received.
func (h *History) received(w *Watch) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(w.Events)
}

// late reports whether a watch has not received the latest acknowledged write.
func (h *History) late(w *Watch) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return w.seen() < h.newest
}

// keys returns the keys of all requests, sorted.
func (h *History) keys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, op := range h.Ops {
		out = append(out, op.Key)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
