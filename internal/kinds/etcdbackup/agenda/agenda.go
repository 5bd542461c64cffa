// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agenda determines when backups are due: by schedule, by interval, once, or again after a failure. Its
// functions are pure. Package etcdbackup determines the state of a run that has started.
package agenda

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/schedule"
)

// Of returns the backup that is due and the start time of the next backup. If several scheduled times were missed, only
// the latest is due.
func Of(b *etcdv1beta2.EtcdBackup, now time.Time) Agenda {
	now = now.UTC().Truncate(time.Second)
	policy := Policy(b)
	switch {
	case policy.Schedule != "":
		return byCron(b, policy, now).withRetry(b, now)
	case policy.BackupIntervalInSecond > 0:
		return byInterval(b, time.Duration(policy.BackupIntervalInSecond)*time.Second, now).withRetry(b, now)
	case b.Status.Run == nil && !b.Status.Succeeded: // opcrew does not overwrite a backup that the CoreOS operator made
		return Agenda{Due: now}
	case b.Status.Run != nil && b.Status.Run.Phase == etcdv1beta2.RunFailed && RetryRequested(b):
		return Agenda{Due: startTime(b, now)}
	}
	return Agenda{}
}

func byCron(b *etcdv1beta2.EtcdBackup, policy etcdv1beta2.BackupPolicy, now time.Time) Agenda {
	s, err := schedule.Parse(policy.Schedule, policy.TimeZone)
	if err != nil {
		return Agenda{Wrong: "backupPolicy: " + err.Error()}
	}
	next := s.Next(now)
	if next.IsZero() {
		return Agenda{Wrong: fmt.Sprintf("backupPolicy: schedule %q matches no future time", policy.Schedule)}
	}
	period := s.Next(next).Sub(next)
	if period < 0 { // the schedule has no later time
		period = next.Sub(now)
	}
	return Agenda{Due: s.Latest(since(b, now), now).UTC(), Next: next.UTC(), period: period}
}

// byInterval computes the due time from an interval that starts at the creation of the object. The first backup is due
// at once, so that there is a backup early. (The CoreOS operator waited for one interval first.)
func byInterval(b *etcdv1beta2.EtcdBackup, every time.Duration, now time.Time) Agenda {
	first := b.CreationTimestamp.UTC()
	latest := first.Add(now.Sub(first).Truncate(every))
	if now.Before(first) { // the clock has been set back
		return Agenda{Next: first, period: every}
	}
	out := Agenda{Next: latest.Add(every), period: every}
	if b.Status.Run == nil || InFuture(b.Status.Run.Due.Time, now) || latest.After(b.Status.Run.Due.Time) {
		out.Due = latest
	}
	return out
}
