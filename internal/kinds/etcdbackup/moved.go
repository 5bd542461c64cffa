// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportMoved ends a run whose spec has backups go elsewhere by now. One of the new spec follows, as after any that
// has failed; what was already saved is.
func reportMoved(set condition.Set, b *etcdv1beta2.EtcdBackup, now time.Time) {
	if b.Status.Run.Phase == etcdv1beta2.RunVerifying {
		b.Status.Run.Phase = etcdv1beta2.RunSucceeded
		reportAsRecorded(set, b)
		return
	}
	reportSaved(set, b, backup.Result{
		Outcome: backup.Failed, Reason: reasonMoved, Message: "the spec names another storage or cluster since this backup was begun",
	}, now)
}

// forgetMoved drops what was proven of backups elsewhere: nobody is to go back to these in the place of others.
func forgetMoved(set condition.Set, b *etcdv1beta2.EtcdBackup) {
	if v := b.Status.Verified; v != nil && moved(b, v.Place) {
		b.Status.Verified = nil
	}
	if last := b.Status.Last; last != nil && moved(b, last.Place) {
		set.Remove(etcdv1beta2.EtcdBackupVerified)
	}
}
