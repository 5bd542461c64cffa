// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// opcrew retries a failed step after a pause. The first pause is short, because a learner may catch up a moment later.
// Later pauses are longer, because etcd refuses some steps for several seconds.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = time.Second
)

// Refusals remembers, for each EtcdCluster, the last step that failed, until a step succeeds.
type Refusals struct {
	mu   sync.Mutex
	last map[types.NamespacedName]Refused
}

// Refused is a step that failed.
type Refused struct {
	// Words is etcd's answer to the step; empty if the step was not sent to etcd.
	Words string
	// Until is the time from which on the step may be retried.
	Until time.Time
	pause time.Duration
}

// Record delays the next step after a failed one. words is etcd's answer; if the step was not sent to etcd, words is
// empty, and the answer to the previous failed step is kept.
func (r *Refusals) Record(key types.NamespacedName, now time.Time, words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[types.NamespacedName]Refused{}
	}
	was := r.last[key]
	if words == "" {
		words = was.Words
	}
	pause := min(max(2*was.pause, shortestPause), longestPause)
	r.last[key] = Refused{Words: words, Until: now.Add(pause), pause: pause}
}

// Forget drops the failed step of a deleted cluster.
func (r *Refusals) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, key)
}

// Of returns the last failed step of a cluster; the zero value if none failed.
func (r *Refusals) Of(key types.NamespacedName) Refused {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[key]
}

// Wait returns how long the next step must wait; 0 if it may be taken now.
func (s Refused) Wait(now time.Time) time.Duration { return max(0, s.Until.Sub(now)) }
