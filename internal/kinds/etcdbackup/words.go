// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/agenda"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// but returns a clause that is appended to the message of a success. The clause describes a problem, for example that
// old backups could not be deleted; it is empty if there was no problem.
func but(result backup.Result) string {
	if result.Reason == "" {
		return ""
	}
	return "; " + result.Message
}

// recorded returns the record of the last backup. If only the CoreOS operator has made backups, the record is
// incomplete.
func recorded(b *etcdv1beta2.EtcdBackup) *etcdv1beta2.BackupRecord {
	if b.Status.Last != nil {
		return b.Status.Last
	}
	return &etcdv1beta2.BackupRecord{Object: "by another operator", Revision: b.Status.EtcdRevision, Time: b.Status.LastSuccessDate}
}

// said describes a backup for a message, such as "backups/db: revision 7, 20480 bytes, at 2026-08-01T11:00:00Z".
func said(r *etcdv1beta2.BackupRecord) string {
	out := fmt.Sprintf("%s: revision %d", r.Object, r.Revision)
	if r.Size > 0 {
		out += fmt.Sprintf(", %d bytes", r.Size)
	}
	if r.Time != nil {
		out += ", at " + r.Time.UTC().Format(time.RFC3339)
	}
	return out
}

// lastGood returns a clause that names the last successful backup, which the user can restore.
func lastGood(b *etcdv1beta2.EtcdBackup) string {
	if b.Status.Last == nil {
		return "; no backup has succeeded yet"
	}
	return "; the last successful backup is " + said(b.Status.Last)
}

// howOn returns a clause that says what the user can do after a one-time backup has failed, because opcrew does not
// retry it; empty for scheduled backups.
func howOn(b *etcdv1beta2.EtcdBackup) string {
	if run := b.Status.Run; agenda.Periodic(b) || run == nil || run.Phase != etcdv1beta2.RunFailed || agenda.RetryRequested(b) {
		return ""
	}
	return "; opcrew does not retry this backup: edit the object, set its annotation " + etcdv1beta2.RetryAnnotation + " to a new value, or create another EtcdBackup"
}

// reasonOf returns the reason of a failed result as a condition reason.
func reasonOf(result backup.Result) string {
	if result.Reason == "" {
		return etcdv1beta2.ReasonBackupFailed
	}
	return string(result.Reason)
}

func timeOr(at, other time.Time) time.Time {
	if at.IsZero() {
		at = other
	}
	return at.Truncate(time.Second)
}
