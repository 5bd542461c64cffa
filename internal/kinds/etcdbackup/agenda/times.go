// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Agenda holds what the schedule of an EtcdBackup requires at a given time.
type Agenda struct {
	// Wrong explains why the schedule is invalid; empty if it is valid.
	Wrong string
	// Due is the start time of a backup that is due but has not started; zero if none is due. Next is the next start
	// time after Due; zero if there is none.
	Due, Next time.Time
	// period is the time between two scheduled backups.
	period time.Duration
	// Tried is how many runs in a row failed before the due run, if the due run is an automatic retry; otherwise 0.
	Tried int32
}

// startTime returns now, or one second after the last run if that is later. Pod names are computed from this time, so
// it must be unique.
func startTime(b *etcdv1beta2.EtcdBackup, now time.Time) time.Time {
	last := since(b, now).UTC()
	if now.After(last) {
		return now
	}
	return last.Add(time.Second)
}

// InFuture reports whether a recorded time is so far in the future that a difference between clocks does not explain
// it. Such a time comes from a wrong clock or a manual edit, and must not delay the schedule.
func InFuture(at, now time.Time) bool { return at.After(now.Add(backup.Skew)) }

// since returns the time at which the last run was due, or the creation time of the object. Only scheduled times after
// the returned time can be due.
func since(b *etcdv1beta2.EtcdBackup, now time.Time) time.Time {
	if b.Status.Run != nil && !InFuture(b.Status.Run.Due.Time, now) {
		return b.Status.Run.Due.Time
	}
	return b.CreationTimestamp.Time
}

// Policy returns spec.backupPolicy. The zero policy, which means a single backup, is the default.
func Policy(b *etcdv1beta2.EtcdBackup) etcdv1beta2.BackupPolicy {
	if b.Spec.BackupPolicy == nil {
		return etcdv1beta2.BackupPolicy{}
	}
	return *b.Spec.BackupPolicy
}

// Periodic reports whether the spec has a schedule or an interval, so that backups are made repeatedly.
func Periodic(b *etcdv1beta2.EtcdBackup) bool {
	policy := Policy(b)
	return policy.Schedule != "" || policy.BackupIntervalInSecond > 0
}

// Timeout returns how long one attempt to save a backup may take.
func Timeout(b *etcdv1beta2.EtcdBackup) time.Duration {
	seconds := Policy(b).TimeoutInSecond
	if seconds <= 0 {
		seconds = etcdv1beta2.DefaultBackupTimeout
	}
	return time.Duration(seconds) * time.Second
}
