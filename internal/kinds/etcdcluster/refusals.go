// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A step that was not taken is tried again after a pause: at first a short one, as a learner may
// be in step a moment later, then longer ones, as some of etcd's own rules take seconds.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = time.Second
)

// refusals remembers, of each cluster, the step that was not taken last, until one is taken.
type refusals struct {
	mu   sync.Mutex
	last map[types.NamespacedName]refusedStep
}

// refusedStep is one that was not taken.
type refusedStep struct {
	// words are what the cluster said; empty where it was not asked.
	words string
	// until is when the step may be tried again, after a pause.
	until time.Time
	pause time.Duration
}

// note has the next step wait. A step that is not taken for another reason than the cluster's
// leaves what it said last.
func (r *refusals) note(key types.NamespacedName, now time.Time, words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[types.NamespacedName]refusedStep{}
	}
	was := r.last[key]
	if words == "" {
		words = was.words
	}
	pause := min(max(2*was.pause, shortestPause), longestPause)
	r.last[key] = refusedStep{words: words, until: now.Add(pause), pause: pause}
}

func (r *refusals) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, key)
}

func (r *refusals) of(key types.NamespacedName) refusedStep {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[key]
}

// retriesIn is how long the next step must wait; 0: not at all.
func (f facts) retriesIn() time.Duration { return max(0, f.refused.until.Sub(f.now)) }
