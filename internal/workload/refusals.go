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
	// RefusalWait is how long pods must be missing before events are read. A pod that is being created is missing too, and
	// events of earlier refusals are kept for an hour.
	RefusalWait = 2 * time.Second
	// maxRefusalWait is the longest time between two reads of events.
	maxRefusalWait = time.Minute
)

// Refusals finds out why pods are missing, from the events of the object that creates them. Reading events is a call to
// the API server, so it is done rarely.
type Refusals struct {
	Live  client.Reader
	Clock clock.PassiveClock
	// Reason is the reason of the events to read; "" stands for FailedCreate.
	Reason string

	mu      sync.Mutex
	missing map[client.ObjectKey]*search
}

// search holds what is known about the missing pods of an object.
type search struct {
	// of is the maker and its generation, because a refusal of another spec explains nothing.
	of          string
	since, next time.Time
	words       string
}

// Refusal holds what is known about missing pods. Words is the message with which the API server refused a pod, if it
// did. Again is how long to wait before calling Why again; 0 means never.
type Refusal struct {
	Words string
	Again time.Duration
}

// Why returns why pods of maker are missing. key is the object that maker belongs to. known reports that the status
// already says they are refused, so that a new process reads events at once. A new generation of maker restarts the
// search. Call Forget when no pod is missing.
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

// ask returns the latest event about the current spec of maker.
func (r *Refusals) ask(ctx context.Context, maker client.Object) (string, error) {
	var since time.Time
	if maker.GetGeneration() > 0 { // a claim has no generation, and its spec hardly changes
		live := maker.DeepCopyObject().(client.Object)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(maker), live); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("read when the spec of %s changed: %w", maker.GetName(), err)
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

// search starts or continues a search.
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

// Forget drops what is known about missing pods. Call it when no pod is missing, or the object is gone.
func (r *Refusals) Forget(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.missing, key)
}
