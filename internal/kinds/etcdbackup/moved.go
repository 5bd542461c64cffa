// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/agenda"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// isOver returns a failure that ends the active run at once; nil if the run may continue. The run ends if the spec now
// names another storage or cluster. It also ends if its start time, which is part of the backup's name, is in the
// future.
func isOver(b *etcdv1beta2.EtcdBackup, now time.Time) *backup.Result {
	switch run := b.Status.Run; {
	case moved(b, run.Place):
		return &backup.Result{Outcome: backup.Failed, Reason: reasonMoved, Message: "the storage or the cluster in the spec has changed since this backup was started"}
	case agenda.Periodic(b) && agenda.InFuture(run.Due.Time, now):
		return &backup.Result{Outcome: backup.Failed, Reason: reasonAhead, Message: fmt.Sprintf("this backup was started for %s, which is in the future: a clock is or was wrong, or status.run was edited",
			run.Due.UTC().Format(time.RFC3339))}
	}
	return nil
}

// reportOver ends a run that no longer fits the spec, and ignores its pods. The schedule then starts another run, as
// after any failure. If the backup was already saved and only its verification was running, the backup still counts as
// saved.
func reportOver(set condition.Set, b *etcdv1beta2.EtcdBackup, why backup.Result, now time.Time) {
	if b.Status.Run.Phase == etcdv1beta2.RunVerifying {
		b.Status.Run.Phase = etcdv1beta2.RunSucceeded
		reportAsRecorded(set, b)
		return
	}
	reportSaved(set, b, why, now)
}

// forgetMoved removes a recorded verification if the spec now names another storage or cluster. The verification of a
// backup in the old storage proves nothing about backups in the new storage.
func forgetMoved(set condition.Set, b *etcdv1beta2.EtcdBackup) {
	if v := b.Status.Verified; v != nil && moved(b, v.Place) {
		b.Status.Verified = nil
	}
	if last := b.Status.Last; last != nil && moved(b, last.Place) {
		set.Remove(etcdv1beta2.EtcdBackupVerified)
	}
}
