// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

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
	if b.DeletionTimestamp != nil || f.behind {
		return
	}
	set := condition.Set{Conditions: &b.Status.Conditions, Generation: b.Generation, Now: now}
	v := judge(b, f)
	reportNext(b, v)
	switch _, busy := atWork(b); {
	case v.saved != nil:
		reportSaved(set, b, *v.saved, now)
	case v.proven != nil:
		reportProven(set, b, *v.proven, now)
	case v.wrong != "":
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonInvalidSpec, v.wrong)
	case busy:
		reportUnderWay(set, b, f, v, done)
	case !v.open.IsZero():
		b.Status.Run = &etcdv1beta2.BackupRun{Due: metav1.NewTime(v.open), Phase: etcdv1beta2.RunRunning, Generation: b.Generation}
		reportAtWork(set, b, v)
	case b.Status.Run != nil || b.Status.Succeeded:
		reportAsRecorded(set, b)
	default:
		reportIdle(set, b, v)
	}
	reportVerified(set, b)
	saved := meta.FindStatusCondition(b.Status.Conditions, etcdv1beta2.EtcdBackupSaved)
	set.SumUp(blockers, saved.Reason, saved.Message)
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
	proves := verifies(b)
	at := metav1.NewTime(timeOr(result.SavedAt, now))
	s.Succeeded, s.Reason, s.Count = true, "", s.Count+1
	s.EtcdVersion, s.EtcdRevision, s.LastSuccessDate = result.EtcdVersion, result.Revision, &at
	s.Last = &etcdv1beta2.BackupRecord{Object: result.Object, Revision: result.Revision, Size: result.Size, Time: &at}
	set.True(etcdv1beta2.EtcdBackupSaved, cmp.Or(string(result.Reason), etcdv1beta2.ReasonSaved), "Saved "+said(s.Last)+but(result))
	if proves { // Ready does not come to go again
		s.Run.Phase = etcdv1beta2.RunVerifying
		reportProving(set, b, verdict{pod: work{verify, s.Run.Due.Time, 1}.podName(b)})
	}
}

// but tells what went wrong beside a success, such as that older backups could not be removed.
func but(result backup.Result) string {
	if result.Reason == "" {
		return ""
	}
	return "; " + result.Message
}

// reportProven notes whether a backup was seen to be restorable. One that is not is no backup,
// whatever was said of it before.
func reportProven(set condition.Set, b *etcdv1beta2.EtcdBackup, result backup.Result, now time.Time) {
	b.Status.Run.Phase = etcdv1beta2.RunSucceeded
	reportAsRecorded(set, b)
	last := ptr.Deref(b.Status.Last, etcdv1beta2.BackupRecord{})
	if result.Outcome != backup.Succeeded {
		set.False(etcdv1beta2.EtcdBackupVerified, reasonOf(result), fmt.Sprintf("Backup %s could not be restored: %s", last.Object, result.Message))
		return
	}
	at := metav1.NewTime(timeOr(result.EndedAt, now))
	last.Time = &at
	b.Status.Verified = &last
	set.True(etcdv1beta2.EtcdBackupVerified, etcdv1beta2.ReasonRestorable, fmt.Sprintf("Backup %s was restorable at %s", last.Object, at.UTC().Format(time.RFC3339)))
}

// reportUnderWay tells of a run that has not ended.
func reportUnderWay(set condition.Set, b *etcdv1beta2.EtcdBackup, f facts, v verdict, done kit.Outcome) {
	kind := etcdv1beta2.EtcdBackupSaved
	if b.Status.Run.Phase == etcdv1beta2.RunVerifying {
		kind = etcdv1beta2.EtcdBackupVerified
		reportAsRecorded(set, b)
	}
	reason, message := hindrance(b, f, v, done)
	switch {
	case reason != "":
		set.False(kind, reason, message)
	case v.stuck:
		set.False(kind, etcdv1beta2.ReasonRetrying, v.waits+lastGood(b))
	case kind == etcdv1beta2.EtcdBackupVerified:
		reportProving(set, b, v)
	default:
		reportAtWork(set, b, v)
	}
}

// hindrance is what keeps the next pod from being made, or from being seen.
func hindrance(b *etcdv1beta2.EtcdBackup, f facts, v verdict, done kit.Outcome) (reason, message string) {
	if v.make != nil && f.obstacle != nil {
		return f.obstacle.reason, f.obstacle.message
	}
	if v.make != nil {
		if err := orderOf(b, f, *v.make).Check(); err != nil {
			return etcdv1beta2.ReasonInvalidSpec, err.Error()
		}
	}
	if done.Err != nil && ensure.Refused(done.Err) {
		return common.ReasonRefused, done.Err.Error()
	}
	if result, ok := done.First(ensure.Taken, ensure.Contested, ensure.Unchanged); ok && result.Message != "" {
		return map[ensure.Action]string{
			ensure.Taken: common.ReasonNameTaken, ensure.Contested: common.ReasonContested, ensure.Unchanged: etcdv1beta2.ReasonRetrying,
		}[result.Action], result.Message
	}
	return "", ""
}

// reportAtWork tells of a backup that is being made. Where the last one succeeded that stands: an
// object that is saved each hour does not stop to be Ready each hour.
func reportAtWork(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	switch {
	case b.Status.Succeeded:
		reportAsRecorded(set, b)
	case b.Status.Reason != "":
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonRunning,
			fmt.Sprintf("A backup is being made by pod %s%s; the one before failed: %s%s", v.pod, waits(v), b.Status.Reason, lastGood(b)))
	default:
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonRunning, "The first backup is being made by pod "+v.pod+waits(v))
	}
}

// reportProving tells of a backup that is being restored. What was said of an earlier one that could be
// stands meanwhile.
func reportProving(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	if !meta.IsStatusConditionTrue(*set.Conditions, etcdv1beta2.EtcdBackupVerified) {
		set.False(etcdv1beta2.EtcdBackupVerified, etcdv1beta2.ReasonRunning, fmt.Sprintf("Backup %s is being restored by pod %s to see that it can be%s", recorded(b).Object, v.pod, waits(v)))
	}
}

// waits is what a pod waits for that is nothing to worry about yet.
func waits(v verdict) string {
	if v.waits == "" {
		return ""
	}
	return "; " + v.waits
}

// reportIdle tells of an object of which no backup was begun.
func reportIdle(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	if b.Spec.Suspend {
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonSuspended, "spec.suspend: no backup was made, and none is begun")
		return
	}
	set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonWaiting, "The first backup is due at "+v.next.UTC().Format(time.RFC3339))
}

// reportAsRecorded tells again how the last backup ended, of this generation. What was said of it stands,
// unless that was about something else, or is gone.
func reportAsRecorded(set condition.Set, b *etcdv1beta2.EtcdBackup) {
	c := meta.FindStatusCondition(*set.Conditions, etcdv1beta2.EtcdBackupSaved)
	switch {
	case b.Status.Succeeded && (c == nil || c.Status != metav1.ConditionTrue):
		set.True(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonSaved, "Saved "+said(recorded(b)))
	case !b.Status.Succeeded && (c == nil || c.Status != metav1.ConditionFalse || c.Reason == etcdv1beta2.ReasonInvalidSpec):
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonBackupFailed, b.Status.Reason+lastGood(b))
	default:
		c.ObservedGeneration = set.Generation
	}
}

// recorded is the last backup, which may be the CoreOS operator's.
func recorded(b *etcdv1beta2.EtcdBackup) *etcdv1beta2.BackupRecord {
	if b.Status.Last != nil {
		return b.Status.Last
	}
	return &etcdv1beta2.BackupRecord{Object: "by another operator", Revision: b.Status.EtcdRevision, Time: b.Status.LastSuccessDate}
}

// reportVerified has the condition be there only with spec.verify.
func reportVerified(set condition.Set, b *etcdv1beta2.EtcdBackup) {
	switch c := meta.FindStatusCondition(*set.Conditions, etcdv1beta2.EtcdBackupVerified); {
	case b.Spec.Verify == nil:
		set.Remove(etcdv1beta2.EtcdBackupVerified)
	case c == nil:
		set.Unknown(etcdv1beta2.EtcdBackupVerified, common.ReasonPending, "No backup was restored yet to see that it can be")
	default:
		c.ObservedGeneration = set.Generation
	}
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
