// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// firstRetry is the wait after the first failed run of a scheduled backup. The wait doubles after each further failure.
const firstRetry = time.Minute

// permanent lists the failure reasons that last until the user changes something, so that a retry is useless. All other
// reasons, including unknown ones, may be temporary.
var permanent = []backup.Reason{
	backup.ReasonBadOrder, backup.ReasonSecretInvalid, backup.ReasonAccessDenied, backup.ReasonBucketMissing, backup.ReasonDiskFull,
}

// RetryRequested reports whether the spec has changed, or the user has requested a retry, since the last run started.
func RetryRequested(b *etcdv1beta2.EtcdBackup) bool {
	asked := b.Annotations[etcdv1beta2.RetryAnnotation]
	return b.Status.Run.Generation != b.Generation || asked != "" && asked != b.Status.Run.Retry
}

// withRetry adds a retry of a failed run before the next scheduled time: at once if the user requests a retry, or after
// a wait if the cause may be temporary. The retry is an ordinary run with its own start time.
func (a Agenda) withRetry(b *etcdv1beta2.EtcdBackup, now time.Time) Agenda {
	run := b.Status.Run
	if a.Wrong != "" || !a.Due.IsZero() || run == nil || run.Phase != etcdv1beta2.RunFailed {
		return a
	}
	if RetryRequested(b) {
		a.Due = startTime(b, now)
		return a
	}
	if run.Ended == nil || slices.Contains(permanent, backup.Reason(run.Reason)) {
		return a
	}
	switch at := run.Ended.UTC().Add(retryWait(run.Failures, a.period)); {
	case !at.Before(a.Next): // the next scheduled run comes first
	case at.After(now):
		a.Next = at
	default:
		a.Due, a.Tried = at, run.Failures
	}
	return a
}

// retryWait returns the wait after a number of consecutive failures: 1, 2, 4 minutes and so on, but at most half of the
// schedule's period.
func retryWait(failures int32, period time.Duration) time.Duration {
	wait, most := firstRetry, period/2
	for ; failures > 1 && wait < most; failures-- {
		wait *= 2
	}
	return min(wait, most)
}
