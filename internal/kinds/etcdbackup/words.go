// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// but says what went wrong beside a success, such as that older backups could not be removed.
func but(result backup.Result) string {
	if result.Reason == "" {
		return ""
	}
	return "; " + result.Message
}

// recorded is the last backup, which may be the CoreOS operator's.
func recorded(b *etcdv1beta2.EtcdBackup) *etcdv1beta2.BackupRecord {
	if b.Status.Last != nil {
		return b.Status.Last
	}
	return &etcdv1beta2.BackupRecord{Object: "by another operator", Revision: b.Status.EtcdRevision, Time: b.Status.LastSuccessDate}
}

// said is a backup in words.
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

// lastGood says what there is to go back to.
func lastGood(b *etcdv1beta2.EtcdBackup) string {
	if b.Status.Last == nil {
		return "; no backup has succeeded yet"
	}
	return "; the last that succeeded is " + said(b.Status.Last)
}

// howOn says what to do about a backup that failed and that nothing makes again by itself.
func howOn(b *etcdv1beta2.EtcdBackup) string {
	if run := b.Status.Run; periodic(b) || run == nil || run.Phase != etcdv1beta2.RunFailed || asksAgain(b) {
		return ""
	}
	return "; it is not made again by itself: edit the object, give its annotation " + etcdv1beta2.RetryAnnotation + " a new value, or make another"
}

// reasonOf is the reason of a result as a condition's.
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
