// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestReadySaysInOneLineWhatBecameOfTheBackup(t *testing.T) {
	const running, verifying, done, failed = etcdv1beta2.RunRunning, etcdv1beta2.RunVerifying, etcdv1beta2.RunSucceeded, etcdv1beta2.RunFailed
	run, again, proof := newBackup(inRun(running, 0)), newBackup(every(3600), inRun(running, 0), hasSaved), newBackup(verified(1), inRun(verifying, 0), hasSaved)
	earlier := "; the last that succeeded is " + sevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"
	handwork := "; it is not made again by itself: edit the object, give its annotation etcd.opcrew.io/retry a new value, or make another"
	first, second := podOf(run, save, 1).Name, podOf(run, save, 2).Name
	corrupt := backup.Result{Outcome: backup.Failed, Reason: "Corrupt", Message: "its hash is another"}
	for name, c := range map[string]struct {
		backup *etcdv1beta2.EtcdBackup
		pods   []corev1.Pod
		want   string
	}{
		"it is taken up":                      {newBackup(), nil, "False Running: The first backup is being made by pod " + first},
		"the first is made":                   {run, pods(podOf(run, save, 1)), "False Running: The first backup is being made by pod " + first},
		"its pod was just made":               {run, nil, "False Running: The first backup is being made by pod " + first},
		"its volume is being made":            {run, pods(podOf(run, save, 1, unbound)), "False Running: The first backup is being made by pod " + first + "; pod " + first + " has not begun: it cannot be scheduled: pod has unbound immediate PersistentVolumeClaims"},
		"its image is not there":              {run, pods(podOf(run, save, 1, unpulled)), "False Retrying: pod " + first + " has not begun: container save: ImagePullBackOff: not found; no backup has succeeded yet"},
		"it succeeded":                        {run, pods(podOf(run, save, 1, told(0, good))), "True Saved: Saved backups/example: revision 42, 20512 bytes, at 2026-08-01T12:00:00Z"},
		"it succeeded, and is yet to prove":   {newBackup(verified(1), inRun(running, 0)), pods(podOf(run, save, 1, told(0, good))), "False Running: Backup backups/example is being restored by pod " + podOf(proof, verify, 1).Name + " to see that it can be"},
		"it succeeded, and could not prune":   {run, pods(podOf(run, save, 1, told(0, unpruned))), "True PruneFailed: Saved backups/example: revision 42, 20512 bytes, at 2026-08-01T12:00:00Z; older ones could not be removed: denied"},
		"an attempt failed":                   {run, pods(podOf(run, save, 1, told(0, away))), "False Retrying: attempt 1 of 3 failed: S3: connection refused; the next is pod " + second + "; no backup has succeeded yet"},
		"and the next is made":                {run, pods(podOf(run, save, 1, told(0, away)), podOf(run, save, 2)), "False Retrying: attempt 1 of 3 failed: S3: connection refused; the next is pod " + second + "; no backup has succeeded yet"},
		"one given up was done after all":     {run, pods(podOf(run, save, 1, told(0, good)), podOf(run, save, 2)), "False Running: The first backup is being made by pod " + second},
		"all attempts failed":                 {run, pods(podOf(run, save, 3, told(0, away))), "False ServerUnreachable: S3: connection refused; no backup has succeeded yet" + handwork},
		"a later one is made":                 {again, pods(podOf(again, save, 1)), "True Saved: Saved " + sevenMade},
		"a later one fails":                   {again, pods(podOf(again, save, 3, told(0, away))), "False ServerUnreachable: S3: connection refused" + earlier},
		"a later one ended without a word":    {again, pods(podOf(again, save, 3, wordless("Evicted"))), "False PodFailed: pod " + podOf(again, save, 3).Name + " ended: Evicted" + earlier},
		"one after a failure is taken up":     {newBackup(every(60), inRun(failed, -time.Hour), hasSaved, hasFailed), nil, "False Running: A backup is being made by pod " + first + "; the one before failed: S3: connection refused" + earlier},
		"it is restored":                      {proof, pods(podOf(proof, verify, 1)), "False Running: Backup " + sevenMade + " is being restored by pod " + podOf(proof, verify, 1).Name + " to see that it can be"},
		"it was restorable":                   {proof, pods(podOf(proof, verify, 1, told(0, backup.Result{Outcome: backup.Succeeded, EndedAt: noon}))), "True Saved: Saved " + sevenMade},
		"it could not be restored":            {proof, pods(podOf(proof, verify, 3, told(0, corrupt))), "False Corrupt: Backup " + sevenMade + " could not be restored: its hash is another"},
		"its order makes no sense":            {newBackup(inRun(running, 0), withPath("backups/../x")), nil, "False InvalidSpec: the path \"backups/../x\" has an empty part, or one of dots"},
		"it rests":                            {newBackup(every(3600), inRun(done, 0), hasSaved), nil, "True Saved: Saved " + sevenMade},
		"it rests, and its conditions went":   {newBackup(every(3600), inRun(done, 0), hasSaved, unsaid), nil, "True Saved: Saved " + sevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"},
		"it failed, and its conditions went":  {newBackup(inRun(failed, 0), hasFailed, unsaid), nil, "False BackupFailed: S3: connection refused; no backup has succeeded yet" + handwork},
		"its run was made up by hand":         {newBackup(inRun(verifying, 0), verified(1)), nil, "False BackupFailed: ; no backup has succeeded yet"},
		"another operator has made it":        {newBackup(fromCoreOS), nil, "True Saved: Saved by another operator: revision 7"},
		"the first is due later":              {newBackup(cron("30 * * * *", "")), nil, "False Waiting: The first backup is due at 2026-08-01T12:30:00Z"},
		"it is suspended before it was begun": {newBackup(suspended), nil, "False Suspended: spec.suspend: no backup was made, and none is begun"},
		"it is suspended later":               {newBackup(every(60), suspended, inRun(done, -time.Hour), hasSaved), nil, "True Saved: Saved " + sevenMade},
		"its schedule makes no sense":         {newBackup(cron("never", "")), nil, `False InvalidSpec: backupPolicy: schedule "never": expected exactly 5 fields, found 1: [never]; write five fields such as "0 3 * * *"`},
		"its schedule is put right":           {newBackup(cron("30 * * * *", ""), inRun(done, 0), hasSaved, invalid), nil, "True Saved: Saved " + sevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"},
		"it succeeds while its schedule is":   {newBackup(cron("never", ""), inRun(running, 0)), pods(podOf(run, save, 1, told(0, good))), "True Saved: Saved backups/example: revision 42, 20512 bytes, at 2026-08-01T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conditionOf(reported(t, c.backup, facts{now: noon, pods: c.pods}), "Ready"); got != c.want {
				t.Errorf("expected Ready to be\n%s, it is\n%s", c.want, got)
			}
		})
	}
}

// unsaid has someone have taken the conditions away.
func unsaid(b *etcdv1beta2.EtcdBackup) { b.Status.Conditions = nil }

// invalid has the spec have made no sense.
func invalid(b *etcdv1beta2.EtcdBackup) {
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionFalse, Reason: etcdv1beta2.ReasonInvalidSpec})
}

// unbound waits for its volume.
func unbound(pod *corev1.Pod) {
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "pod has unbound immediate PersistentVolumeClaims"}}}
}

func TestTheStatusIsTheContracts(t *testing.T) {
	run := newBackup(inRun(etcdv1beta2.RunRunning, 0))
	got := reported(t, run, facts{now: noon, pods: pods(podOf(run, save, 1, told(0, good)))}).Status
	if !got.Succeeded || got.Reason != "" || got.EtcdRevision != 42 || got.EtcdVersion != "3.6.16" || !got.LastSuccessDate.Time.Equal(noon) || got.Count != 1 {
		t.Errorf("expected the success to be noted, got %+v", got)
	}
	got = reported(t, run, facts{now: noon, pods: pods(podOf(run, save, 3, told(0, away)))}).Status
	if got.Succeeded || got.Reason != "S3: connection refused" {
		t.Errorf("expected the failure to be noted, got %+v", got)
	}
}

func TestEveryNthBackupIsVerified(t *testing.T) {
	for count, want := range map[int64]string{0: etcdv1beta2.RunSucceeded, 1: etcdv1beta2.RunSucceeded, 2: etcdv1beta2.RunVerifying, 3: etcdv1beta2.RunSucceeded, 5: etcdv1beta2.RunVerifying} {
		b := newBackup(verified(3), inRun(etcdv1beta2.RunRunning, 0))
		b.Status.Count = count
		if got := reported(t, b, facts{now: noon, pods: pods(podOf(b, save, 1, told(0, good)))}).Status.Run.Phase; got != want {
			t.Errorf("with verify.every 3, expected backup %d to go on with %s, got %s", count+1, want, got)
		}
	}
}

func TestARunIsWrittenDownAtOnce(t *testing.T) {
	r, before := &reconciler{}, newBackup()
	after := reported(t, before, facts{now: noon})
	if !r.Records(before, after) || after.Status.Run.Phase != etcdv1beta2.RunRunning || r.Records(after, after) {
		t.Errorf("expected the run to be a record, got %+v", after.Status.Run)
	}
}
