// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/agenda"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// blockers lists the conditions that can keep Ready from being True, the most important first.
var blockers = []condition.Blocker{
	condition.Unless(etcdv1beta2.EtcdBackupSaved),
	condition.WhenFalse(etcdv1beta2.EtcdBackupVerified),
	condition.WhenTrue(common.ConditionProtectionMissing),
}

// Report writes the status from what was read, decided and done.
func (r *reconciler) Report(b *etcdv1beta2.EtcdBackup, f facts, v verdict, done kit.Outcome) {
	if b.DeletionTimestamp != nil || f.behind {
		return
	}
	set := condition.Set{Conditions: &b.Status.Conditions, Generation: b.Generation, Now: done.Now}
	switch _, busy := atWork(b); {
	case v.over != nil:
		reportOver(set, b, *v.over, done.Now)
	case v.saved != nil:
		reportSaved(set, b, *v.saved, done.Now)
	case v.proven != nil:
		reportProven(set, b, *v.proven, done.Now)
	case v.wrong != "":
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonInvalidSpec, v.wrong)
	case busy:
		reportUnderWay(set, b, v, done)
	case !v.open.IsZero():
		b.Status.Run = &etcdv1beta2.BackupRun{
			Due: metav1.NewTime(v.open), Phase: etcdv1beta2.RunRunning, Generation: b.Generation, Retry: b.Annotations[etcdv1beta2.RetryAnnotation],
			Place: whereTo(b), Failures: v.tried,
		}
		reportAtWork(set, b, v)
	case b.Status.Run != nil || b.Status.Succeeded:
		reportAsRecorded(set, b)
	default:
		reportIdle(set, b, v)
	}
	reportNext(b, v.now)
	forgetMoved(set, b)
	reportVerified(set, b)
	set.Remark(common.ConditionProtectionMissing, common.ReasonProtectionMissing, b.Unprotected())
	set.Remark(common.ConditionUnencrypted, common.ReasonPlainHTTP, b.Spec.Unencrypted(b.Spec.StorageType))
	saved := meta.FindStatusCondition(b.Status.Conditions, etcdv1beta2.EtcdBackupSaved)
	set.SumUp(blockers, saved.Reason, saved.Message)
}

// records reports whether status.run has changed. The new status must then be written before opcrew does anything else
// for that run.
func (r *reconciler) records(before, now *etcdv1beta2.EtcdBackup) bool {
	was, is := before.Status.Run, now.Status.Run
	return is != nil && !equality.Semantic.DeepEqual(was, is)
}

// reportNext sets status.nextDate. It must run after all other changes of the status, because a run that has just
// failed may be retried before its next scheduled time.
func reportNext(b *etcdv1beta2.EtcdBackup, now time.Time) {
	b.Status.NextDate = nil
	if next := agenda.Of(b, now).Next; !next.IsZero() && !b.Spec.Suspend {
		b.Status.NextDate = &metav1.Time{Time: next}
	}
}

// reportSaved records the result of the task save: a failed run, or a new backup.
func reportSaved(set condition.Set, b *etcdv1beta2.EtcdBackup, result backup.Result, now time.Time) {
	s := &b.Status
	if result.Outcome != backup.Succeeded {
		s.Succeeded, s.Reason = false, result.Message
		noteFailed(s.Run, result, now)
		set.False(etcdv1beta2.EtcdBackupSaved, reasonOf(result), result.Message+lastGood(b)+howOn(b))
		return
	}
	s.Run.Phase, s.Run.Failures = etcdv1beta2.RunSucceeded, 0
	proves := verifies(b)
	at := metav1.NewTime(timeOr(result.SavedAt, now))
	s.Succeeded, s.Reason, s.Count = true, "", s.Count+1
	s.EtcdVersion, s.EtcdRevision, s.LastSuccessDate = result.EtcdVersion, result.Revision, &at
	s.Last = &etcdv1beta2.BackupRecord{
		Object: result.Object, Revision: result.Revision, Size: result.Size, Time: &at, ClusterID: result.ClusterID, Place: s.Run.Place,
	}
	set.True(etcdv1beta2.EtcdBackupSaved, cmp.Or(string(result.Reason), etcdv1beta2.ReasonSaved), "Saved "+said(s.Last)+but(result))
	// Start the verification in the same status write, so that Ready does not become True in between.
	if proves {
		s.Run.Phase = etcdv1beta2.RunVerifying
		reportProving(set, b, verdict{pod: work{verify, s.Run.Due.Time, 1}.podName(b)})
	}
}

// noteFailed records when and why a run failed. The time of the retry depends on both.
func noteFailed(run *etcdv1beta2.BackupRun, result backup.Result, now time.Time) {
	run.Phase, run.Reason = etcdv1beta2.RunFailed, reasonOf(result)
	run.Ended, run.Failures = &metav1.Time{Time: now.Truncate(time.Second)}, run.Failures+1
}

// reportProven records whether a backup could be restored. A backup that cannot be restored makes Ready False, although
// it was saved successfully.
func reportProven(set condition.Set, b *etcdv1beta2.EtcdBackup, result backup.Result, now time.Time) {
	b.Status.Run.Phase = etcdv1beta2.RunSucceeded
	reportAsRecorded(set, b)
	last := ptr.Deref(b.Status.Last, etcdv1beta2.BackupRecord{})
	if result.Outcome != backup.Succeeded {
		set.False(etcdv1beta2.EtcdBackupVerified, reasonOf(result), fmt.Sprintf("Backup %s could not be restored: %s", last.Object, result.Message))
		return
	}
	at := metav1.NewTime(timeOr(result.EndedAt, now))
	last.SavedAt, last.Time = last.Time, &at
	b.Status.Verified = &last
	set.True(etcdv1beta2.EtcdBackupVerified, cmp.Or(string(result.Reason), etcdv1beta2.ReasonRestorable),
		fmt.Sprintf("Backup %s was verified as restorable at %s", last.Object, at.UTC().Format(time.RFC3339))+but(result))
}

// reportAsRecorded sets the condition Saved from the recorded result of the last backup. If the condition exists, it is
// changed only if it contradicts that result.
func reportAsRecorded(set condition.Set, b *etcdv1beta2.EtcdBackup) {
	c := meta.FindStatusCondition(*set.Conditions, etcdv1beta2.EtcdBackupSaved)
	switch {
	case b.Status.Succeeded && (c == nil || c.Status != metav1.ConditionTrue):
		set.True(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonSaved, "Saved "+said(recorded(b)))
	case !b.Status.Succeeded && (c == nil || c.Status != metav1.ConditionFalse || c.Reason == etcdv1beta2.ReasonInvalidSpec):
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonBackupFailed, b.Status.Reason+lastGood(b)+howOn(b))
	default:
		c.ObservedGeneration = set.Generation
	}
}

// reportVerified removes the condition Verified if spec.verify is not set, and sets it to Unknown before the first
// verification.
func reportVerified(set condition.Set, b *etcdv1beta2.EtcdBackup) {
	switch c := meta.FindStatusCondition(*set.Conditions, etcdv1beta2.EtcdBackupVerified); {
	case b.Spec.Verify == nil:
		set.Remove(etcdv1beta2.EtcdBackupVerified)
	case c == nil:
		set.Unknown(etcdv1beta2.EtcdBackupVerified, common.ReasonPending, "No backup has been verified by a restore yet")
	default:
		c.ObservedGeneration = set.Generation
	}
}
