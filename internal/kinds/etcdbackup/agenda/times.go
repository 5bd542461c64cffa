// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Agenda holds what the spec requires at a given time.
type Agenda struct {
	// Wrong explains why the schedule cannot be kept.
	Wrong string
	// Due is the start time of a backup that has not started yet; zero if none is due. Next is the time after it; zero
	// if there is none.
	Due, Next time.Time
	// period is the time between two times of the schedule.
	period time.Duration
	// Tried counts the failed runs that the due run makes up for.
	Tried int32
}

// startTime returns now, or a moment after the last run if that is later, as the names of pods depend on this time.
func startTime(b *etcdv1beta2.EtcdBackup, now time.Time) time.Time {
	last := since(b, now).UTC()
	if now.After(last) {
		return now
	}
	return last.Add(time.Second)
}

// InFuture reports whether a time is further ahead than clocks may differ. It then comes from a wrong clock or a manual
// edit, and must not delay the schedule.
func InFuture(at, now time.Time) bool { return at.After(now.Add(backup.Skew)) }

// since returns the time after which times of the schedule count.
func since(b *etcdv1beta2.EtcdBackup, now time.Time) time.Time {
	if b.Status.Run != nil && !InFuture(b.Status.Run.Due.Time, now) {
		return b.Status.Run.Due.Time
	}
	return b.CreationTimestamp.Time
}

// Policy returns the schedule and retention in the spec; the zero policy means a single backup.
func Policy(b *etcdv1beta2.EtcdBackup) etcdv1beta2.BackupPolicy {
	if b.Spec.BackupPolicy == nil {
		return etcdv1beta2.BackupPolicy{}
	}
	return *b.Spec.BackupPolicy
}

// Periodic reports whether backups are made repeatedly.
func Periodic(b *etcdv1beta2.EtcdBackup) bool {
	policy := Policy(b)
	return policy.Schedule != "" || policy.BackupIntervalInSecond > 0
}

// Timeout returns how long one attempt may run.
func Timeout(b *etcdv1beta2.EtcdBackup) time.Duration {
	seconds := Policy(b).TimeoutInSecond
	if seconds <= 0 {
		seconds = etcdv1beta2.DefaultBackupTimeout
	}
	return time.Duration(seconds) * time.Second
}
