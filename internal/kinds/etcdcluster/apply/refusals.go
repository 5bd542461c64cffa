// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A step that was not taken is tried again after a pause. The first pause is short, as a learner may catch up a moment
// later; later ones are longer, as some of etcd's own rules take seconds.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = time.Second
)

// Refusals holds, for each cluster, the last step that was not taken, until a step is taken.
type Refusals struct {
	mu   sync.Mutex
	last map[types.NamespacedName]Refused
}

// Refused is a step that was not taken.
type Refused struct {
	// Words is the cluster's answer; empty if the step was not sent.
	Words string
	// Until is the time when the step may be tried again.
	Until time.Time
	pause time.Duration
}

// Record makes the next step wait. A step that was not sent (words is empty) keeps the cluster's last answer.
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

// Forget drops the refusal of a deleted cluster.
func (r *Refusals) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, key)
}

// Of returns the last refused step of a cluster; zero if none was refused.
func (r *Refusals) Of(key types.NamespacedName) Refused {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[key]
}

// Wait returns how long the next step must wait; 0 if it need not.
func (s Refused) Wait(now time.Time) time.Duration { return max(0, s.Until.Sub(now)) }
