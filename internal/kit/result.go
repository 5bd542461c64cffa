// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// retryWait is how long to wait after a write that was based on an older state, or while the cache is stale, if no
	// event comes first.
	retryWait = 200 * time.Millisecond
	// mostRetryWait is the longest wait after a write that was based on an older state. The wait doubles with each try,
	// because a problem that looks like a conflict, such as a missing namespace, may last.
	mostRetryWait = 10 * time.Second
)

// result converts an outcome to a result for the work queue. An error causes a backoff. In all other cases the queue
// waits for an event or the requested time. The error of a patch on which nothing else depends causes no backoff,
// because it must not delay other work.
func (l *Loop[O, F, D]) result(ctx context.Context, key client.ObjectKey, plan Plan, done Outcome) (ctrl.Result, error) {
	done.lookAgain(plan.Again)
	// If the status is not written yet, the error must not cause a backoff. Otherwise each event would increase the
	// backoff, up to a minute, although the status can be written after half a second.
	if done.Err != nil && !done.unreported && !done.independent {
		return ctrl.Result{}, done.Err
	}
	if done.retry {
		done.lookAgain(l.retries.wait(key))
	} else {
		l.retries.over(key)
	}
	logRest(log.FromContext(ctx), plan, done)
	return ctrl.Result{RequeueAfter: done.again}, nil
}

// retries counts for each object how many reconciles in a row were based on an older state.
type retries struct {
	count Memory[client.ObjectKey, int]
}

// wait counts a reconcile that was based on an older state, and returns how long to wait before the next try.
func (r *retries) wait(key client.ObjectKey) time.Duration {
	count := r.count.Update(key, func(n int) int { return n + 1 })
	return min(mostRetryWait, retryWait<<min(count-1, 10))
}

// over resets the count of an object after a successful reconcile, or when the object is gone.
func (r *retries) over(key client.ObjectKey) { r.count.Forget(key) }
