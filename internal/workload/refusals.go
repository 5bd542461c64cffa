// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// RefusalWait passes before events are read for missing pods: a pod that is being created is missing too, and
	// events are kept for an hour.
	RefusalWait = 2 * time.Second
	// maxRefusalWait is the longest time between two reads of events.
	maxRefusalWait = time.Minute
)

// Refusals finds out why pods are missing from the events of the object that creates them. Reading events is a call to
// the API server, so it is done rarely.
type Refusals struct {
	Live  client.Reader
	Clock clock.PassiveClock
	// Reason of the events to read; FailedCreate if it is empty.
	Reason string

	mu      sync.Mutex
	missing map[client.ObjectKey]*search
}

// search is what is known about the missing pods of an object.
type search struct {
	// of is the maker and its generation: a refusal of another spec explains nothing.
	of          string
	since, next time.Time
	words       string
}

// Refusal is what is known about missing pods: the message with which the API server refused one, if it did, and when
// to look again; 0 for never.
type Refusal struct {
	Words string
	Again time.Duration
}

// Why returns why pods of maker, which belongs to the object of a key, are missing. known reports that the status says
// they are refused: then a new process reads events at once. A new generation of maker starts the search again. Call
// Forget when no pod is missing.
func (r *Refusals) Why(ctx context.Context, key client.ObjectKey, maker client.Object, known bool) Refusal {
	now := r.Clock.Now()
	s := r.search(key, maker, now, known)
	if now.Before(s.next) {
		return Refusal{s.words, s.next.Sub(now)}
	}
	words, err := r.ask(ctx, maker)
	if err != nil {
		words = s.words
	}
	wait := min(maxRefusalWait, max(RefusalWait, now.Sub(s.since)))
	r.mu.Lock()
	defer r.mu.Unlock()
	s = &search{of: s.of, since: s.since, next: now.Add(wait), words: words}
	r.missing[key] = s
	return Refusal{words, wait}
}

// ask reads the last event about the present spec of maker.
func (r *Refusals) ask(ctx context.Context, maker client.Object) (string, error) {
	var since time.Time
	if maker.GetGeneration() > 0 { // a claim has none, and its spec hardly changes
		live := maker.DeepCopyObject().(client.Object)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(maker), live); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("when %s changed: %w", maker.GetName(), err)
		}
		since = specChanged(live)
	}
	return LastEvent(ctx, r.Live, maker, cmp.Or(r.Reason, failedCreate), since)
}

// specChanged returns when the spec of an object was last written, in seconds; zero if that is not recorded.
func specChanged(object client.Object) time.Time {
	var last time.Time
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource != "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// search starts a search, or continues it.
func (r *Refusals) search(key client.ObjectKey, maker client.Object, now time.Time, known bool) *search {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.missing == nil {
		r.missing = map[client.ObjectKey]*search{}
	}
	of := fmt.Sprintf("%s %d", maker.GetUID(), maker.GetGeneration())
	if last := r.missing[key]; last == nil || last.of != of {
		s := &search{of: of, since: now, next: now.Add(RefusalWait)}
		if known {
			s.next = now
		}
		r.missing[key] = s
	}
	return r.missing[key]
}

// Forget ends the search: no pod is missing, or the object is gone.
func (r *Refusals) Forget(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.missing, key)
}
