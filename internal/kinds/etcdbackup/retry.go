// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// firstRetry passes after a run of a schedule that failed, and twice as long after each that follows.
const firstRetry = time.Minute

// byConfiguration are the reasons that stay until someone changes something. All others may pass, also those
// that are not known here.
var byConfiguration = []backup.Reason{
	backup.ReasonBadOrder, backup.ReasonSecretInvalid, backup.ReasonAccessDenied, backup.ReasonBucketMissing, backup.ReasonDiskFull,
}

// asksAgain reports whether the last run was made for another spec, or someone has asked for one more try since.
func asksAgain(b *etcdv1beta2.EtcdBackup) bool {
	asked := b.Annotations[etcdv1beta2.RetryAnnotation]
	return b.Status.Run.Generation != b.Generation || asked != "" && asked != b.Status.Run.Retry
}

// retried has a run that failed be followed by another before the next time of the schedule: at once if
// someone asks for it, and else after a while if what it failed by may have passed. That is a run as any, of a time of its own.
func (a agenda) retried(b *etcdv1beta2.EtcdBackup, now time.Time) agenda {
	run := b.Status.Run
	if a.wrong != "" || !a.due.IsZero() || run == nil || run.Phase != etcdv1beta2.RunFailed {
		return a
	}
	if asksAgain(b) {
		a.due = after(b, now)
		return a
	}
	if run.Ended == nil || slices.Contains(byConfiguration, backup.Reason(run.Reason)) {
		return a
	}
	switch at := run.Ended.UTC().Add(retryWait(run.Failures, a.period)); {
	case !at.Before(a.next): // the schedule's own comes before
	case at.After(now):
		a.next = at
	default:
		a.due, a.tried = at, run.Failures
	}
	return a
}

// retryWait is for how long a run is not made again after so many have failed: 1, 2, 4 minutes and so on, and at
// most half of what passes between two times of the schedule.
func retryWait(failures int32, period time.Duration) time.Duration {
	wait, most := firstRetry, period/2
	for ; failures > 1 && wait < most; failures-- {
		wait *= 2
	}
	return min(wait, most)
}
