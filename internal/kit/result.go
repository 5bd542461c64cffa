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
	// retryWait is how long to wait before a write that was decided on an older state is decided again, if no event comes
	// first.
	retryWait = 200 * time.Millisecond
	// mostRetryWait is the longest wait. The wait doubles because what looks like a conflict, such as a missing namespace,
	// may last.
	mostRetryWait = 10 * time.Second
)

// result turns an outcome into what the queue does next. An error makes it back off. In all other cases it waits for an
// event or for the requested time, even after the error of an independent patch, which must not delay anything.
func (l *Loop[O, F, D]) result(ctx context.Context, key client.ObjectKey, plan Plan, done Outcome) (ctrl.Result, error) {
	done.lookAgain(plan.Again)
	// A status that is not written yet does not wait for the backoff. Within the half second between two status writes,
	// events can drive the backoff up to a minute.
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

// retries counts, for each object, the consecutive reconciles that were decided on an older state.
type retries struct {
	count Memory[client.ObjectKey, int]
}

// wait increases the count, and returns how long to wait before the next try.
func (r *retries) wait(key client.ObjectKey) time.Duration {
	count := r.count.Update(key, func(n int) int { return n + 1 })
	return min(mostRetryWait, retryWait<<min(count-1, 10))
}

// over resets the count, because a reconcile succeeded or the object is gone.
func (r *retries) over(key client.ObjectKey) { r.count.Forget(key) }
