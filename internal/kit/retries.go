// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// retryWait passes before a conflict is tried again, if no event comes first.
	retryWait = 200 * time.Millisecond
	// mostRetryWait is what the wait doubles up to, should the conflict go on: something
	// that looks like one, such as a namespace that is missing, may last.
	mostRetryWait = 10 * time.Second
)

// retries counts, for each object, the conflicts since the last reconcile without one.
type retries struct {
	mu    sync.Mutex
	count map[client.ObjectKey]int
}

// wait notes a conflict and says when to try again.
func (r *retries) wait(key client.ObjectKey) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[client.ObjectKey]int{}
	}
	wait := min(mostRetryWait, retryWait<<min(r.count[key], 10))
	r.count[key]++
	return wait
}

// over notes that there was none, or that the object is gone.
func (r *retries) over(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.count, key)
}
