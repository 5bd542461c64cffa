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
	// RefusalWait passes while pods are missing before the events are asked why: a pod that
	// is being made or recreated is missing too, and events speak for an hour.
	RefusalWait = 2 * time.Second
	// maxRefusalWait is the longest time between two questions.
	maxRefusalWait = time.Minute
)

// Refusals finds out why pods are missing: from the events of the object that makes
// them, seldom, as reading those is a call to the API server.
type Refusals struct {
	Live  client.Reader
	Clock clock.PassiveClock
	// Reason of the events that tell why; FailedCreate, of whatever makes pods, if it is empty.
	Reason string

	mu      sync.Mutex
	missing map[client.ObjectKey]*search
}

// search is what is known of an object's missing pods.
type search struct {
	// of is the maker and its generation: what was refused to another spec explains nothing.
	of          string
	since, next time.Time
	words       string
}

// Refusal is what is known of missing pods: the words with which the API server refused
// one, if it did, and when to look again, 0 for not by itself.
type Refusal struct {
	Words string
	Again time.Duration
}

// Why says why pods of maker are missing, which belongs to the object of a key. known
// reports that they were refused when last reported: a new process then asks at once and
// takes nothing back. Call Forget when none is missing any more.
//
// A refusal is of the generation of maker that it was informed of: with another one the search begins again.
//
// Events that cannot be read are no failure: nothing is decided on them, and they are asked
// again as if they had told nothing new.
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
	if maker.GetGeneration() > 0 { // a claim has none, and its spec stays
		live := maker.DeepCopyObject().(client.Object)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(maker), live); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("when %s changed: %w", maker.GetName(), err)
		}
		since = specChanged(live)
	}
	return LastEvent(ctx, r.Live, maker, cmp.Or(r.Reason, failedCreate), since)
}

// specChanged is when someone last wrote an object itself and not its status, in seconds; zero if no one noted that.
func specChanged(object client.Object) time.Time {
	var last time.Time
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource != "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// search begins to search, or goes on.
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
