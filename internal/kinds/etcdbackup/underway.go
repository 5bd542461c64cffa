// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// reportUnderWay sets the conditions while a run has not ended.
func reportUnderWay(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict, done kit.Outcome) {
	kind := etcdv1beta2.EtcdBackupSaved
	if b.Status.Run.Phase == etcdv1beta2.RunVerifying {
		kind = etcdv1beta2.EtcdBackupVerified
		reportAsRecorded(set, b)
	}
	reason, message := hindrance(v, done)
	switch {
	// The next backup is due and must not wait for this verification.
	case reason != "" && kind == etcdv1beta2.EtcdBackupVerified && v.late:
		reportProven(set, b, backup.Result{Outcome: backup.Failed, Reason: backup.Reason(reason), Message: message}, v.now)
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

// hindrance returns the reason and message of what prevents the next pod from being created or read; empty if nothing
// prevents this.
func hindrance(v verdict, done kit.Outcome) (reason, message string) {
	if v.obstacle != nil {
		return v.obstacle.reason, v.obstacle.message
	}
	if done.Err != nil && ensure.Refused(done.Err) {
		return common.ReasonRefused, done.Err.Error()
	}
	if denied, ok := done.First(ensure.Denied); ok {
		return denied.Reason, denied.Message
	}
	if result, ok := done.First(ensure.Taken, ensure.Contested, ensure.Delayed, ensure.Unchanged); ok && result.Message != "" {
		return map[ensure.Action]string{
			ensure.Taken: common.ReasonNameTaken, ensure.Contested: common.ReasonContested,
			ensure.Delayed: etcdv1beta2.ReasonRetrying, ensure.Unchanged: etcdv1beta2.ReasonRetrying,
		}[result.Action], result.Message
	}
	return "", ""
}

// reportAtWork reports that a backup is being saved. If the last backup succeeded, the condition Saved stays True:
// otherwise hourly backups would make Ready False every hour.
func reportAtWork(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	switch {
	case b.Status.Succeeded:
		reportAsRecorded(set, b)
	case b.Status.Reason != "":
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonRunning,
			fmt.Sprintf("A backup is being saved by pod %s%s; the previous backup failed: %s%s", v.pod, waits(v), b.Status.Reason, lastGood(b)))
	default:
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonRunning, "The first backup is being saved by pod "+v.pod+waits(v))
	}
}

// reportProving reports that a backup is being verified. If an earlier verification succeeded, the condition Verified
// stays True meanwhile.
func reportProving(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	if !meta.IsStatusConditionTrue(*set.Conditions, etcdv1beta2.EtcdBackupVerified) {
		set.False(etcdv1beta2.EtcdBackupVerified, etcdv1beta2.ReasonRunning, fmt.Sprintf("Backup %s is being verified by pod %s, which restores it%s", recorded(b).Object, v.pod, waits(v)))
	}
}

// waits returns what the current run of the EtcdBackup waits for, as a clause to append to a message; empty if the run
// waits for nothing.
func waits(v verdict) string {
	if v.waits == "" {
		return ""
	}
	return "; " + v.waits
}

// reportIdle reports an EtcdBackup that has not made any backup yet.
func reportIdle(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	if b.Spec.Suspend {
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonSuspended, "Backups are suspended (spec.suspend). No backup has been made yet, and none will be started")
		return
	}
	set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonWaiting, "The first backup is due at "+v.next.UTC().Format(time.RFC3339))
}
