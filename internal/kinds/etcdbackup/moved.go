// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// isOver says why the run that is at work ends whatever its pods do: the spec has it saved elsewhere by now, or it is
// one of a schedule whose time has not come. By that time its backup would be named.
func isOver(b *etcdv1beta2.EtcdBackup, now time.Time) *backup.Result {
	switch run := b.Status.Run; {
	case moved(b, run.Place):
		return &backup.Result{Outcome: backup.Failed, Reason: reasonMoved, Message: "the spec names another storage or cluster since this backup was begun"}
	case periodic(b) && ahead(run.Due.Time, now):
		return &backup.Result{Outcome: backup.Failed, Reason: reasonAhead, Message: fmt.Sprintf("this backup was begun as one of %s, which has not come yet: a clock is wrong or was, or somebody wrote status.run",
			run.Due.UTC().Format(time.RFC3339))}
	}
	return nil
}

// reportOver ends a run whose pods do not matter any more. Another follows, as after any that has failed; what was
// already saved is.
func reportOver(set condition.Set, b *etcdv1beta2.EtcdBackup, why backup.Result, now time.Time) {
	if b.Status.Run.Phase == etcdv1beta2.RunVerifying {
		b.Status.Run.Phase = etcdv1beta2.RunSucceeded
		reportAsRecorded(set, b)
		return
	}
	reportSaved(set, b, why, now)
}

// forgetMoved drops what was proven of backups elsewhere: no one is to go back to these in the place of others.
func forgetMoved(set condition.Set, b *etcdv1beta2.EtcdBackup) {
	if v := b.Status.Verified; v != nil && moved(b, v.Place) {
		b.Status.Verified = nil
	}
	if last := b.Status.Last; last != nil && moved(b, last.Place) {
		set.Remove(etcdv1beta2.EtcdBackupVerified)
	}
}
