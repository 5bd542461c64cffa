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
	// RefusalWait is how long pods must be missing before events are read. Pods that are only being created are missing
	// for a shorter time. Without the wait, an old event would be reported for them, because events are kept for an
	// hour.
	RefusalWait = 2 * time.Second
	// maxRefusalWait is the maximum time between two reads of events.
	maxRefusalWait = time.Minute
)

// Refusals finds out why pods are missing, from events of the workload that creates them. Reading events is an API
// call, so Refusals limits how often it does that.
type Refusals struct {
	Live  client.Reader
	Clock clock.PassiveClock
	// Reason is the reason of the events to read; "" means FailedCreate.
	Reason string

	mu      sync.Mutex
	missing map[client.ObjectKey]*search
}

// search holds what is known about the missing pods of one object.
type search struct {
	// of identifies the workload and its generation. The refusal of an earlier spec does not explain why pods are
	// missing now.
	of          string
	since, next time.Time
	words       string
}

// Refusal is the result of a search. Words is the message with which the API server refused a pod; "" if none is known.
// Again is how long to wait before calling Why again; 0 means never.
type Refusal struct {
	Words string
	Again time.Duration
}

// Why returns why pods of maker, a workload, are missing. key identifies the object that owns maker. If known is true,
// the status already reports a refusal, and a new search reads events without waiting, as after a restart of opcrew.
// Call Forget when no pod is missing.
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

// ask returns the message of the latest event about the current spec of maker.
func (r *Refusals) ask(ctx context.Context, maker client.Object) (string, error) {
	var since time.Time
	if maker.GetGeneration() > 0 { // PersistentVolumeClaims have no generation, and their specs rarely change
		live := maker.DeepCopyObject().(client.Object)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(maker), live); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("read when the spec of %s changed: %w", maker.GetName(), err)
		}
		since = specChanged(live)
	}
	return LastEvent(ctx, r.Live, maker, cmp.Or(r.Reason, failedCreate), since)
}

// specChanged returns when the spec of an object was last written, in whole seconds; zero if unknown.
func specChanged(object client.Object) time.Time {
	var last time.Time
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource != "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// search returns the current search for the reason why pods of an object are missing. It starts a new search if there
// is none, or if maker or its generation has changed.
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

// Forget ends the search for an object. Call it when no pod is missing, or when the object is gone.
func (r *Refusals) Forget(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.missing, key)
}
