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

// reportUnderWay reports a run that has not ended.
func reportUnderWay(set condition.Set, b *etcdv1beta2.EtcdBackup, f facts, v verdict, done kit.Outcome) {
	kind := etcdv1beta2.EtcdBackupSaved
	if b.Status.Run.Phase == etcdv1beta2.RunVerifying {
		kind = etcdv1beta2.EtcdBackupVerified
		reportAsRecorded(set, b)
	}
	reason, message := hindrance(b, f, v, done)
	switch {
	case reason != "" && kind == etcdv1beta2.EtcdBackupVerified && v.late: // the next backup does not wait for a proof
		reportProven(set, b, backup.Result{Outcome: backup.Failed, Reason: backup.Reason(reason), Message: message}, f.now)
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
	if result, ok := done.First(ensure.Taken, ensure.Contested, ensure.Delayed, ensure.Unchanged); ok && result.Message != "" {
		return map[ensure.Action]string{
			ensure.Taken: common.ReasonNameTaken, ensure.Contested: common.ReasonContested,
			ensure.Delayed: etcdv1beta2.ReasonRetrying, ensure.Unchanged: etcdv1beta2.ReasonRetrying,
		}[result.Action], result.Message
	}
	return "", ""
}

// reportAtWork reports a backup that is being made. Where the last one succeeded that stands: an
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

// reportProving reports a backup that is being restored. What was said of an earlier one that could be
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

// reportIdle reports an object of which no backup was begun.
func reportIdle(set condition.Set, b *etcdv1beta2.EtcdBackup, v verdict) {
	if b.Spec.Suspend {
		set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonSuspended, "spec.suspend: no backup was made, and none is begun")
		return
	}
	set.False(etcdv1beta2.EtcdBackupSaved, etcdv1beta2.ReasonWaiting, "The first backup is due at "+v.next.UTC().Format(time.RFC3339))
}
