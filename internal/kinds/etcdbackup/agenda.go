// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/schedule"
)

// agenda is what the spec asks for at a time.
type agenda struct {
	// wrong says why the schedule cannot be kept.
	wrong string
	// due is when a backup was to begin that has not; zero: none was. next is the one to come;
	// zero: none does by itself.
	due, next time.Time
	// period passes between two times of the schedule.
	period time.Duration
	// tried is how many runs have failed since the schedule's time that the one that is due makes up for.
	tried int32
}

// agendaOf says what is due. Of times that were missed only the latest is made up for.
func agendaOf(b *etcdv1beta2.EtcdBackup, now time.Time) agenda {
	now = now.UTC().Truncate(time.Second)
	policy := policyOf(b)
	switch {
	case policy.Schedule != "":
		return byCron(b, policy, now).retried(b, now)
	case policy.BackupIntervalInSecond > 0:
		return byInterval(b, time.Duration(policy.BackupIntervalInSecond)*time.Second, now).retried(b, now)
	case b.Status.Run == nil && !b.Status.Succeeded: // an earlier operator's backup is not written over
		return agenda{due: now}
	case b.Status.Run != nil && b.Status.Run.Phase == etcdv1beta2.RunFailed && asksAgain(b):
		return agenda{due: after(b, now)}
	}
	return agenda{}
}

// after is now, or a moment after the last run, by whose time its pods are known.
func after(b *etcdv1beta2.EtcdBackup, now time.Time) time.Time {
	last := since(b, now).UTC()
	if now.After(last) {
		return now
	}
	return last.Add(time.Second)
}

// ahead reports whether a time has not come yet, by more than clocks differ: it is of a wrong clock, or of someone's
// hand, and no time of the schedule is to wait for it.
func ahead(at, now time.Time) bool { return at.After(now.Add(backup.Skew)) }

func byCron(b *etcdv1beta2.EtcdBackup, policy etcdv1beta2.BackupPolicy, now time.Time) agenda {
	s, err := schedule.Parse(policy.Schedule, policy.TimeZone)
	if err != nil {
		return agenda{wrong: "backupPolicy: " + err.Error()}
	}
	next := s.Next(now)
	if next.IsZero() {
		return agenda{wrong: fmt.Sprintf("backupPolicy: schedule %q never comes", policy.Schedule)}
	}
	period := s.Next(next).Sub(next)
	if period < 0 { // none is known to follow
		period = next.Sub(now)
	}
	return agenda{due: s.Latest(since(b, now), now).UTC(), next: next.UTC(), period: period}
}

// byInterval counts from the creation of the object. The CoreOS operator let an interval pass before
// the first backup: until then there was none.
func byInterval(b *etcdv1beta2.EtcdBackup, every time.Duration, now time.Time) agenda {
	first := b.CreationTimestamp.UTC()
	latest := first.Add(now.Sub(first).Truncate(every))
	if now.Before(first) { // the clock was set back
		return agenda{next: first, period: every}
	}
	out := agenda{next: latest.Add(every), period: every}
	if b.Status.Run == nil || ahead(b.Status.Run.Due.Time, now) || latest.After(b.Status.Run.Due.Time) {
		out.due = latest
	}
	return out
}

// since is after when a time of the schedule counts.
func since(b *etcdv1beta2.EtcdBackup, now time.Time) time.Time {
	if b.Status.Run != nil && !ahead(b.Status.Run.Due.Time, now) {
		return b.Status.Run.Due.Time
	}
	return b.CreationTimestamp.Time
}

func policyOf(b *etcdv1beta2.EtcdBackup) etcdv1beta2.BackupPolicy {
	if b.Spec.BackupPolicy == nil {
		return etcdv1beta2.BackupPolicy{}
	}
	return *b.Spec.BackupPolicy
}

// periodic reports whether backups are made again and again.
func periodic(b *etcdv1beta2.EtcdBackup) bool {
	policy := policyOf(b)
	return policy.Schedule != "" || policy.BackupIntervalInSecond > 0
}

// timeout is for how long one attempt may run.
func timeout(b *etcdv1beta2.EtcdBackup) time.Duration {
	seconds := policyOf(b).TimeoutInSecond
	if seconds <= 0 {
		seconds = etcdv1beta2.DefaultBackupTimeout
	}
	return time.Duration(seconds) * time.Second
}
