// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
)

func TestReadySaysInOneLineWhatBecameOfTheBackup(t *testing.T) {
	const running, verifying, done, failed = etcdv1beta2.RunRunning, etcdv1beta2.RunVerifying, etcdv1beta2.RunSucceeded, etcdv1beta2.RunFailed
	run, again, proof := newBackup(inRun(running, 0)), newBackup(every(3600), inRun(running, 0), hasSaved), newBackup(verified(1), inRun(verifying, 0), hasSaved)
	earlier := "; the last that succeeded is " + sevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"
	corrupt := backup.Result{Outcome: backup.Failed, Reason: "Corrupt", Message: "its hash is another"}
	for name, c := range map[string]struct {
		backup *etcdv1beta2.EtcdBackup
		pods   []corev1.Pod
		want   string
	}{
		"it is taken up":                      {newBackup(), nil, "False Running: The first backup is being made: a backup is about to begin"},
		"the first is made":                   {run, pods(podOf(run, save, 1)), "False Running: The first backup is being made: pod " + podOf(run, save, 1).Name + " is at work"},
		"its image is not there":              {run, pods(podOf(run, save, 1, unpulled)), "False Retrying: pod " + podOf(run, save, 1).Name + " has not begun: container save: ImagePullBackOff: not found; no backup has succeeded yet"},
		"it succeeded":                        {run, pods(podOf(run, save, 1, told(0, good))), "True Saved: Saved backups/example: revision 42, 20512 bytes, at 2026-08-01T12:00:00Z"},
		"an attempt failed":                   {run, pods(podOf(run, save, 1, told(0, away))), "False Retrying: attempt 1 of 3 failed: S3: connection refused; no backup has succeeded yet"},
		"all attempts failed":                 {run, pods(podOf(run, save, 3, told(0, away))), "False ServerUnreachable: S3: connection refused; no backup has succeeded yet"},
		"a later one is made":                 {again, pods(podOf(again, save, 1)), "True Saved: Saved " + sevenMade},
		"a later one fails":                   {again, pods(podOf(again, save, 3, told(0, away))), "False ServerUnreachable: S3: connection refused" + earlier},
		"a later one ended without a word":    {again, pods(podOf(again, save, 3, wordless("Evicted"))), "False PodFailed: pod " + podOf(again, save, 3).Name + " ended: Evicted" + earlier},
		"it is restored":                      {proof, pods(podOf(proof, verify, 1)), "False Running: Backup " + sevenMade + " is being restored to see that it can be"},
		"it was restorable":                   {proof, pods(podOf(proof, verify, 1, told(0, backup.Result{Outcome: backup.Succeeded, EndedAt: noon}))), "True Saved: Saved " + sevenMade},
		"it could not be restored":            {proof, pods(podOf(proof, verify, 3, told(0, corrupt))), "False Corrupt: Backup " + sevenMade + " could not be restored: its hash is another"},
		"its order makes no sense":            {newBackup(inRun(running, 0), withPath("backups/../x")), nil, "False InvalidSpec: the path \"backups/../x\" has a part that is empty, . or .."},
		"it rests":                            {newBackup(every(3600), inRun(done, 0), hasSaved), nil, "True Saved: Saved " + sevenMade},
		"the first is due later":              {newBackup(cron("30 * * * *", "")), nil, "False Waiting: The first backup is due at 2026-08-01T12:30:00Z"},
		"it is suspended before it was begun": {newBackup(suspended), nil, "False Suspended: spec.suspend: no backup was made, and none is begun"},
		"it is suspended later":               {newBackup(every(60), suspended, inRun(done, -time.Hour), hasSaved), nil, "True Saved: Saved " + sevenMade},
		"its schedule makes no sense":         {newBackup(cron("never", "")), nil, `False InvalidSpec: backupPolicy: schedule "never": expected exactly 5 fields, found 1: [never]; write five fields such as "0 3 * * *"`},
		"the next is due and is taken up":     {newBackup(every(60), inRun(failed, -time.Hour), hasSaved), nil, "True Saved: Saved " + sevenMade},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conditionOf(reported(t, c.backup, facts{now: noon, pods: c.pods}), "Ready"); got != c.want {
				t.Errorf("expected Ready to be\n%s, it is\n%s", c.want, got)
			}
		})
	}
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
