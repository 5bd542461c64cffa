// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestReadySaysInOneLineWhatBecameOfTheBackup(t *testing.T) {
	const running, verifying, done, failed = etcdv1beta2.RunRunning, etcdv1beta2.RunVerifying, etcdv1beta2.RunSucceeded, etcdv1beta2.RunFailed
	run, again, proof := backuptest.New(backuptest.InRun(running, 0)), backuptest.New(backuptest.Every(3600), backuptest.InRun(running, 0), backuptest.HasSaved), backuptest.New(backuptest.Verified(1), backuptest.InRun(verifying, 0), backuptest.HasSaved)
	earlier := "; the last successful backup is " + backuptest.SevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"
	handwork := "; opcrew does not retry this backup: edit the object, set its annotation etcd.opcrew.io/retry to a new value, or create another EtcdBackup"
	first, second := podOf(run, save, 1).Name, podOf(run, save, 2).Name
	corrupt := backup.Result{Outcome: backup.Failed, Reason: "Corrupt", Message: "its hash is another"}
	for name, c := range map[string]struct {
		backup *etcdv1beta2.EtcdBackup
		pods   []corev1.Pod
		want   string
	}{
		"it is taken up":                      {backuptest.New(), nil, "False Running: The first backup is being saved by pod " + first},
		"the first is made":                   {run, pods(podOf(run, save, 1)), "False Running: The first backup is being saved by pod " + first},
		"its pod was just made":               {run, nil, "False Running: The first backup is being saved by pod " + first},
		"its volume is being made":            {run, pods(podOf(run, save, 1, unbound)), "False Running: The first backup is being saved by pod " + first + "; pod " + first + " has not started: the pod cannot be scheduled: pod has unbound immediate PersistentVolumeClaims"},
		"its image is not there":              {run, pods(podOf(run, save, 1, unpulled)), "False Retrying: pod " + first + " has not started: container save: ImagePullBackOff: not found; no backup has succeeded yet"},
		"it succeeded":                        {run, pods(podOf(run, save, 1, reporting(0, good))), "True Saved: Saved backups/example: revision 42, 20512 bytes, at 2026-08-01T12:00:00Z"},
		"it succeeded, and is yet to prove":   {backuptest.New(backuptest.Verified(1), backuptest.InRun(running, 0)), pods(podOf(run, save, 1, reporting(0, good))), "False Running: Backup backups/example is being verified by pod " + podOf(proof, verify, 1).Name + ", which restores it"},
		"it succeeded, and could not prune":   {run, pods(podOf(run, save, 1, reporting(0, unpruned))), "True PruneFailed: Saved backups/example: revision 42, 20512 bytes, at 2026-08-01T12:00:00Z; older ones could not be removed: denied"},
		"an attempt failed":                   {run, pods(podOf(run, save, 1, reporting(0, away))), "False Retrying: attempt 1 of 3 failed: S3: connection refused; the next attempt is pod " + second + "; no backup has succeeded yet"},
		"and the next is made":                {run, pods(podOf(run, save, 1, reporting(0, away)), podOf(run, save, 2)), "False Retrying: attempt 1 of 3 failed: S3: connection refused; the next attempt is pod " + second + "; no backup has succeeded yet"},
		"one given up was done after all":     {run, pods(podOf(run, save, 1, reporting(0, good)), podOf(run, save, 2)), "False Running: The first backup is being saved by pod " + second},
		"all attempts failed":                 {run, pods(podOf(run, save, 3, reporting(0, away))), "False ServerUnreachable: S3: connection refused; no backup has succeeded yet" + handwork},
		"a later one is made":                 {again, pods(podOf(again, save, 1)), "True Saved: Saved " + backuptest.SevenMade},
		"a later one fails":                   {again, pods(podOf(again, save, 3, reporting(0, away))), "False ServerUnreachable: S3: connection refused" + earlier},
		"a later one ended without a result":  {again, pods(podOf(again, save, 3, withoutResult("Evicted"))), "False PodFailed: pod " + podOf(again, save, 3).Name + " ended: Evicted" + earlier},
		"one after a failure is taken up":     {backuptest.New(backuptest.Every(60), backuptest.InRun(failed, -time.Hour), backuptest.HasSaved, backuptest.HasFailed), nil, "False Running: A backup is being saved by pod " + first + "; the previous backup failed: S3: connection refused" + earlier},
		"it is restored":                      {proof, pods(podOf(proof, verify, 1)), "False Running: Backup " + backuptest.SevenMade + " is being verified by pod " + podOf(proof, verify, 1).Name + ", which restores it"},
		"it was restorable":                   {proof, pods(podOf(proof, verify, 1, reporting(0, backup.Result{Outcome: backup.Succeeded, EndedAt: backuptest.Noon}))), "True Saved: Saved " + backuptest.SevenMade},
		"it could not be restored":            {proof, pods(podOf(proof, verify, 3, reporting(0, corrupt))), "False Corrupt: Backup " + backuptest.SevenMade + " could not be restored: its hash is another"},
		"its order makes no sense":            {backuptest.New(backuptest.InRun(running, 0), backuptest.WithPath("backups/../x")), nil, "False InvalidSpec: the path \"backups/../x\" has a part that is empty, \".\" or \"..\""},
		"it rests":                            {backuptest.New(backuptest.Every(3600), backuptest.InRun(done, 0), backuptest.HasSaved), nil, "True Saved: Saved " + backuptest.SevenMade},
		"it rests, and its conditions went":   {backuptest.New(backuptest.Every(3600), backuptest.InRun(done, 0), backuptest.HasSaved, unsaid), nil, "True Saved: Saved " + backuptest.SevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"},
		"it failed, and its conditions went":  {backuptest.New(backuptest.InRun(failed, 0), backuptest.HasFailed, unsaid), nil, "False BackupFailed: S3: connection refused; no backup has succeeded yet" + handwork},
		"its run was made up by hand":         {backuptest.New(backuptest.InRun(verifying, 0), backuptest.Verified(1)), nil, "False BackupFailed: ; no backup has succeeded yet"},
		"another operator has made it":        {backuptest.New(backuptest.FromCoreOS), nil, "True Saved: Saved by another operator: revision 7"},
		"the first is due later":              {backuptest.New(backuptest.Cron("30 * * * *", "")), nil, "False Waiting: The first backup is due at 2026-08-01T12:30:00Z"},
		"it is suspended before it was begun": {backuptest.New(backuptest.Suspended), nil, "False Suspended: Backups are suspended (spec.suspend). No backup has been made yet, and none will be started"},
		"it is suspended later":               {backuptest.New(backuptest.Every(60), backuptest.Suspended, backuptest.InRun(done, -time.Hour), backuptest.HasSaved), nil, "True Saved: Saved " + backuptest.SevenMade},
		"its schedule makes no sense":         {backuptest.New(backuptest.Cron("never", "")), nil, `False InvalidSpec: backupPolicy: schedule "never": expected exactly 5 fields, found 1: [never]; write five fields such as "0 3 * * *"`},
		"its schedule is put right":           {backuptest.New(backuptest.Cron("30 * * * *", ""), backuptest.InRun(done, 0), backuptest.HasSaved, invalid), nil, "True Saved: Saved " + backuptest.SevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"},
		"it succeeds while its schedule is":   {backuptest.New(backuptest.Cron("never", ""), backuptest.InRun(running, 0)), pods(podOf(run, save, 1, reporting(0, good))), "True Saved: Saved backups/example: revision 42, 20512 bytes, at 2026-08-01T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conditionOf(reported(t, c.backup, facts{now: backuptest.Noon, pods: c.pods}), "Ready"); got != c.want {
				t.Errorf("expected Ready to be\n%s, it is\n%s", c.want, got)
			}
		})
	}
}

func TestABackupThatIsReadOrSentInTheClearSaysSo(t *testing.T) {
	plain := backuptest.New(backuptest.Every(3600), backuptest.InRun(etcdv1beta2.RunSucceeded, 0), backuptest.HasSaved)
	plain.Spec.S3.Endpoint, plain.Spec.EtcdEndpoints = "http://minio:9000", []string{"http://db:2379"}
	for name, c := range map[string]struct{ secret, endpoint, ready, unencrypted string }{
		"by http to the store":       {"", "http://minio:9000", "True Saved", "True PlainHTTP: Backups and the credentials for their storage travel unencrypted, because s3.endpoint is http://minio:9000"},
		"by https to the store":      {"", "https://minio:9000", "True Saved", ""},
		"with TLS that has no use":   {"client", "https://minio:9000", "False ProtectionMissing: clientTLSSecret requests TLS", ""},
		"with both of them":          {"client", "http://minio:9000", "False ProtectionMissing", "True PlainHTTP"},
		"to Amazon, by its own URLs": {"", "", "True Saved", ""},
	} {
		b := plain.DeepCopy()
		b.Spec.ClientTLSSecret, b.Spec.S3.Endpoint = c.secret, c.endpoint
		got := reported(t, b, facts{now: backuptest.Noon})
		if ready := conditionOf(got, "Ready"); !strings.HasPrefix(ready, c.ready) {
			t.Errorf("%s: expected Ready to be %s, got %s", name, c.ready, ready)
		}
		if text := conditionOf(got, common.ConditionUnencrypted); !strings.HasPrefix(text, c.unencrypted) || c.unencrypted == "" && strings.HasPrefix(text, "True") {
			t.Errorf("%s: expected Unencrypted to be %q, got %q", name, c.unencrypted, text)
		}
	}
}

// unsaid removes all conditions from the status, as another client could.
func unsaid(b *etcdv1beta2.EtcdBackup) { b.Status.Conditions = nil }

// invalid records in the status that the spec was invalid.
func invalid(b *etcdv1beta2.EtcdBackup) {
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionFalse, Reason: etcdv1beta2.ReasonInvalidSpec})
}

// unbound makes a pod unschedulable, because its claim has no volume yet.
func unbound(pod *corev1.Pod) {
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "pod has unbound immediate PersistentVolumeClaims"}}}
}

func TestTheStatusIsTheContracts(t *testing.T) {
	run := backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, 0))
	got := reported(t, run, facts{now: backuptest.Noon, pods: pods(podOf(run, save, 1, reporting(0, good)))}).Status
	if !got.Succeeded || got.Reason != "" || got.EtcdRevision != 42 || got.EtcdVersion != "3.6.16" || !got.LastSuccessDate.Time.Equal(backuptest.Noon) || got.Count != 1 {
		t.Errorf("expected the success to be noted, got %+v", got)
	}
	got = reported(t, run, facts{now: backuptest.Noon, pods: pods(podOf(run, save, 3, reporting(0, away)))}).Status
	if got.Succeeded || got.Reason != "S3: connection refused" {
		t.Errorf("expected the failure to be noted, got %+v", got)
	}
}

func TestEveryNthBackupIsVerified(t *testing.T) {
	for count, want := range map[int64]string{0: etcdv1beta2.RunSucceeded, 1: etcdv1beta2.RunSucceeded, 2: etcdv1beta2.RunVerifying, 3: etcdv1beta2.RunSucceeded, 5: etcdv1beta2.RunVerifying} {
		b := backuptest.New(backuptest.Verified(3), backuptest.InRun(etcdv1beta2.RunRunning, 0))
		b.Status.Count = count
		if got := reported(t, b, facts{now: backuptest.Noon, pods: pods(podOf(b, save, 1, reporting(0, good)))}).Status.Run.Phase; got != want {
			t.Errorf("with verify.every 3, expected backup %d to go on with %s, got %s", count+1, want, got)
		}
	}
}

func TestARunIsWrittenDownAtOnce(t *testing.T) {
	r, before := &reconciler{}, backuptest.New()
	after := reported(t, before, facts{now: backuptest.Noon})
	if !r.records(before, after) || after.Status.Run.Phase != etcdv1beta2.RunRunning || r.records(after, after) {
		t.Errorf("expected the run to be a record, got %+v", after.Status.Run)
	}
}
