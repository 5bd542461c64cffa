// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// firstRetry passes after a failed run of a schedule, and twice as long after each following failure.
const firstRetry = time.Minute

// permanent are the reasons that stay until the user changes something. All others may pass, including unknown ones.
var permanent = []backup.Reason{
	backup.ReasonBadOrder, backup.ReasonSecretInvalid, backup.ReasonAccessDenied, backup.ReasonBucketMissing, backup.ReasonDiskFull,
}

// RetryRequested reports whether the spec has changed since the last run, or the user has requested another try since.
func RetryRequested(b *etcdv1beta2.EtcdBackup) bool {
	asked := b.Annotations[etcdv1beta2.RetryAnnotation]
	return b.Status.Run.Generation != b.Generation || asked != "" && asked != b.Status.Run.Retry
}

// withRetry adds a run after one that failed, before the next time of the schedule: at once if the user requests it,
// otherwise after a while if the cause may have passed. It is a run like any other, with a time of its own.
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
	case !at.Before(a.Next): // the schedule's own comes before
	case at.After(now):
		a.Next = at
	default:
		a.Due, a.Tried = at, run.Failures
	}
	return a
}

// retryWait returns how long to wait after a number of failures: 1, 2, 4 minutes and so on, and at most half of the
// period of the schedule.
func retryWait(failures int32, period time.Duration) time.Duration {
	wait, most := firstRetry, period/2
	for ; failures > 1 && wait < most; failures-- {
		wait *= 2
	}
	return min(wait, most)
}
