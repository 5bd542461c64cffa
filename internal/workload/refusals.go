// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// RefusalWait passes while pods are missing before the events are asked why: a pod that
	// is being made or made anew is missing too, and events speak for an hour.
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
	since, next time.Time
	words       string
}

// Refusal is what is known of missing pods: the words with which the API server refused
// one, if it did, and when to look again, 0 for not by itself.
type Refusal struct {
	Words string
	Again time.Duration
}

// Why tells why pods of maker are missing, which belongs to the object of a key. known
// tells that they were refused when last reported: a new process then asks at once and
// takes nothing back. Call Forget when none is missing any more.
//
// Events that cannot be read are no failure: nothing is decided on them, and they are asked
// again as if they had told nothing new.
func (r *Refusals) Why(ctx context.Context, key client.ObjectKey, maker client.Object, known bool) Refusal {
	now := r.Clock.Now()
	s := r.search(key, now, known)
	if now.Before(s.next) {
		return Refusal{s.words, s.next.Sub(now)}
	}
	words, err := LastEvent(ctx, r.Live, maker, cmp.Or(r.Reason, failedCreate))
	if err != nil {
		words = s.words
	}
	wait := min(maxRefusalWait, max(RefusalWait, now.Sub(s.since)))
	r.mu.Lock()
	defer r.mu.Unlock()
	s = &search{since: s.since, next: now.Add(wait), words: words}
	r.missing[key] = s
	return Refusal{words, wait}
}

// search begins to search, or goes on.
func (r *Refusals) search(key client.ObjectKey, now time.Time, known bool) *search {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.missing == nil {
		r.missing = map[client.ObjectKey]*search{}
	}
	if r.missing[key] == nil {
		s := &search{since: now, next: now.Add(RefusalWait)}
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
