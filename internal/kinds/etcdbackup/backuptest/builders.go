// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backuptest builds EtcdBackups for the tests of package etcdbackup and its subpackages.
package backuptest

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

var Noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

type Option func(*etcdv1beta2.EtcdBackup)

// New returns an EtcdBackup that was created at noon, for a single backup into an S3 bucket.
func New(options ...Option) *etcdv1beta2.EtcdBackup {
	b := &etcdv1beta2.EtcdBackup{}
	b.Namespace, b.Name, b.UID, b.Generation = "data", "nightly", "uid-of-nightly", 1
	b.CreationTimestamp = metav1.NewTime(Noon)
	b.Spec.EtcdEndpoints = []string{"http://example-client:2379"}
	b.Spec.StorageType = etcdv1beta2.StorageS3
	b.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/example", AWSSecret: "aws"}
	for _, o := range options {
		o(b)
	}
	return b
}

func Every(seconds int64) Option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &etcdv1beta2.BackupPolicy{BackupIntervalInSecond: seconds, MaxBackups: 5}
	}
}

func Cron(schedule, zone string) Option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &etcdv1beta2.BackupPolicy{Schedule: schedule, TimeZone: zone}
	}
}

func Verified(every int32) Option {
	return func(b *etcdv1beta2.EtcdBackup) { b.Spec.Verify = &etcdv1beta2.VerifyPolicy{Every: every} }
}

func WithPath(path string) Option {
	return func(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.Path = path }
}

func Suspended(b *etcdv1beta2.EtcdBackup) { b.Spec.Suspend = true }

func Edited(b *etcdv1beta2.EtcdBackup) { b.Generation++ }

// InRun sets the phase of the backup's current run, and when the run was due, relative to noon.
func InRun(phase string, due time.Duration) Option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Status.Run = &etcdv1beta2.BackupRun{Due: metav1.NewTime(Noon.Add(due)), Phase: phase, Generation: 1}
	}
}

// Failed makes the current run fail at a time relative to noon. failures is the number of failed runs since the last
// scheduled time.
func Failed(ended time.Duration, reason backup.Reason, failures int32) Option {
	return func(b *etcdv1beta2.EtcdBackup) {
		at := metav1.NewTime(Noon.Add(ended))
		b.Status.Run.Phase, b.Status.Run.Ended, b.Status.Run.Reason, b.Status.Run.Failures = etcdv1beta2.RunFailed, &at, string(reason), failures
	}
}

// HasSaved records that an earlier backup succeeded an hour before noon.
func HasSaved(b *etcdv1beta2.EtcdBackup) {
	at := metav1.NewTime(Noon.Add(-time.Hour))
	b.Status.Last = &etcdv1beta2.BackupRecord{Object: SevenMade, Revision: 7, Size: 20480, Time: &at}
	b.Status.Succeeded, b.Status.Count, b.Status.LastSuccessDate = true, 1, &at
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
		Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionTrue, Reason: etcdv1beta2.ReasonSaved, Message: "Saved " + SevenMade})
}

// FromCoreOS sets a status as the CoreOS operator wrote it.
func FromCoreOS(b *etcdv1beta2.EtcdBackup) {
	b.Status = etcdv1beta2.EtcdBackupStatus{Succeeded: true, EtcdRevision: 7, EtcdVersion: "3.2.13"}
}

// HasFailed records that the last backup failed.
func HasFailed(b *etcdv1beta2.EtcdBackup) {
	b.Status.Succeeded, b.Status.Reason = false, "S3: connection refused"
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
		Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionFalse, Reason: "StoreUnreachable", Message: "S3: connection refused"})
}

// SevenMade is the name of the backup of etcd revision 7 in the storage.
const SevenMade = "backups/example_v7_2026-08-01-11:00:00"

// NextYear is an offset from noon. It is too large to be explained by clocks that differ.
const NextYear = 366 * 24 * time.Hour

func Clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.TimeOnly)
}

// Asked sets the annotation that requests a retry. The status records that the current run was started for the request
// "1", so the value "1" requests no further run.
func Asked(value string) Option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Annotations, b.Status.Run.Retry = map[string]string{etcdv1beta2.RetryAnnotation: value}, "1"
	}
}
