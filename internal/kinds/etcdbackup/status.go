// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// blockers are what stands in the way of Ready, the first that does being its cause.
var blockers = []condition.Blocker{
	condition.Unless(etcdv1beta2.EtcdBackupSaved),
	condition.WhenFalse(etcdv1beta2.EtcdBackupVerified),
}

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(b *etcdv1beta2.EtcdBackup, f facts, done kit.Outcome, now time.Time) {
	if b.DeletionTimestamp != nil {
		return
	}
	set := condition.Set{Conditions: &b.Status.Conditions, Generation: b.Generation, Now: now}
	v := judge(b, f, now)
	reportNext(b, v)
	switch {
	case v.wrong != "":
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonInvalidSpec, v.wrong)
	case !v.open.IsZero():
		b.Status.Run = &etcdv1beta2.BackupRun{Due: metav1.NewTime(v.open), Phase: etcdv1beta2.RunRunning, Generation: b.Generation}
		reportAtWork(set, b, "a backup is about to begin")
	case v.saved != nil:
		reportSaved(set, b, *v.saved, now)
	case v.proven != nil:
		reportProven(set, b, *v.proven, now)
	case b.Status.Run != nil:
		reportUnderWay(set, b, f, v, done)
	default:
		reportIdle(set, b, v)
	}
	if b.Spec.Verify == nil {
		set.Remove(etcdv1beta2.EtcdBackupVerified)
	}
	saved := meta.FindStatusCondition(b.Status.Conditions, etcdv1beta2.EtcdBackupSaved)
	set.SumUp(blockers, etcdv1beta2.ReasonSaved, saved.Message)
}

// Records has it written at once that a run was begun, or how a part of it ended: what is not
// written down is not begun, and nothing follows from it.
func (r *reconciler) Records(before, now *etcdv1beta2.EtcdBackup) bool {
	was, is := before.Status.Run, now.Status.Run
	return is != nil && (was == nil || *was != *is)
}

// reportNext tells when the next run is due.
func reportNext(b *etcdv1beta2.EtcdBackup, v verdict) {
	b.Status.NextDate = nil
	if !v.next.IsZero() && !b.Spec.Suspend {
		b.Status.NextDate = &metav1.Time{Time: v.next}
	}
}

// reportSaved notes how a backup ended.
func reportSaved(set condition.Set, b *etcdv1beta2.EtcdBackup, result backup.Result, now time.Time) {
	s := &b.Status
	if result.Outcome != backup.Succeeded {
		s.Run.Phase, s.Succeeded, s.Reason = etcdv1beta2.RunFailed, false, result.Message
		set.False(etcdv1beta2.EtcdBackupSaved, reasonOf(result), result.Message+lastGood(b))
		return
	}
	s.Run.Phase = etcdv1beta2.RunSucceeded
	if verifies(b) {
		s.Run.Phase = etcdv1beta2.RunVerifying
	}
	at := metav1.NewTime(timeOr(result.SavedAt, now))
	s.Succeeded, s.Reason, s.Count = true, "", s.Count+1
	s.EtcdVersion, s.EtcdRevision, s.LastSuccessDate = result.EtcdVersion, result.Revision, &at
	s.Last = &etcdv1beta2.BackupRecord{Object: result.Object, Revision: result.Revision, Size: result.Size, Time: &at}
	set.True(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonSaved, "Saved "+said(s.Last))
}

// reportProven notes whether a backup was seen to be restorable. One that is not is no backup,
// whatever was said of it before.
func reportProven(set condition.Set, b *etcdv1beta2.EtcdBackup, result backup.Result, now time.Time) {
	b.Status.Run.Phase = etcdv1beta2.RunSucceeded
	if result.Outcome != backup.Succeeded {
		set.False(etcdv1beta2.EtcdBackupVerified, reasonOf(result), fmt.Sprintf("Backup %s could not be restored: %s", b.Status.Last.Object, result.Message))
		return
	}
	at := metav1.NewTime(timeOr(result.EndedAt, now))
	b.Status.Verified = b.Status.Last.DeepCopy()
	b.Status.Verified.Time = &at
	set.True(etcdv1beta2.EtcdBackupVerified, etcdv1beta2.ReasonRestorable, fmt.Sprintf("Backup %s was restorable at %s", b.Status.Last.Object, at.UTC().Format(time.RFC3339)))
}

// reportUnderWay tells of a run that has not ended, or rests.
func reportUnderWay(set condition.Set, b *etcdv1beta2.EtcdBackup, f facts, v verdict, done kit.Outcome) {
	over := b.Status.Run.Phase == etcdv1beta2.RunSucceeded || b.Status.Run.Phase == etcdv1beta2.RunFailed
	kind := etcdv1beta2.EtcdBackupSaved
	if b.Status.Run.Phase == etcdv1beta2.RunVerifying {
		kind = etcdv1beta2.EtcdBackupVerified
	}
	taken, isTaken := done.First(ensure.Taken)
	var senseless error
	if v.make != nil && f.obstacle == nil {
		senseless = orderOf(b, f, *v.make).Check()
	}
	switch {
	case over: // what was said of it stands, of this generation too
		keep(set, etcdv1beta2.EtcdBackupSaved, etcdv1beta2.EtcdBackupVerified)
	case f.obstacle != nil:
		set.False(kind, f.obstacle.reason, f.obstacle.message)
	case senseless != nil:
		set.False(kind, etcdv1beta2.ReasonInvalidSpec, senseless.Error())
	case isTaken:
		set.False(kind, common.ReasonNameTaken, taken.Message)
	case done.Err != nil && ensure.Refused(done.Err):
		set.False(kind, common.ReasonRefused, done.Err.Error())
	case v.stuck:
		set.False(kind, etcdv1beta2.ReasonRetrying, v.waits+lastGood(b))
	case kind == etcdv1beta2.EtcdBackupVerified:
		keepOr(set, kind, "Backup "+b.Status.Last.Object+" is being restored to see that it can be")
	default:
		reportAtWork(set, b, v.waits)
	}
}

// reportAtWork tells of a backup that is being made. Where an earlier one succeeded that stands: an
// object that is saved each hour does not stop to be Ready each hour.
func reportAtWork(set condition.Set, b *etcdv1beta2.EtcdBackup, what string) {
	keepOr(set, etcdv1beta2.EtcdBackupSaved, "The first backup is being made: "+what)
	if b.Spec.Verify != nil && b.Status.Verified == nil && meta.FindStatusCondition(*set.Conditions, etcdv1beta2.EtcdBackupVerified) == nil {
		set.Unknown(etcdv1beta2.EtcdBackupVerified, common.ReasonPending, "No backup was restored yet to see that it can be")
	}
}

// reportIdle tells of an object of which no backup was begun.
func reportIdle(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	if b.Spec.Suspend {
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonSuspended, "spec.suspend: no backup was made, and none is begun")
		return
	}
	set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonWaiting, "The first backup is due at "+v.next.UTC().Format(time.RFC3339))
}

// keep says again what was said, of this generation.
func keep(set condition.Set, kinds ...string) {
	for _, kind := range kinds {
		if c := meta.FindStatusCondition(*set.Conditions, kind); c != nil {
			c.ObservedGeneration = set.Generation
		}
	}
}

// keepOr keeps what is True, or says that it is on its way.
func keepOr(set condition.Set, kind, message string) {
	if meta.IsStatusConditionTrue(*set.Conditions, kind) {
		keep(set, kind)
		return
	}
	set.False(kind, etcdv1beta2.ReasonRunning, message)
}

// said is a backup in words.
func said(r *etcdv1beta2.BackupRecord) string {
	return fmt.Sprintf("%s: revision %d, %d bytes, at %s", r.Object, r.Revision, r.Size, r.Time.UTC().Format(time.RFC3339))
}

// lastGood tells what there is to go back to.
func lastGood(b *etcdv1beta2.EtcdBackup) string {
	if b.Status.Last == nil {
		return "; no backup has succeeded yet"
	}
	return "; the last that succeeded is " + said(b.Status.Last)
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
