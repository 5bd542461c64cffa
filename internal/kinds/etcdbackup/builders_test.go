// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

type option func(*etcdv1beta2.EtcdBackup)

// newBackup was created at noon, and asks for one backup into a bucket.
func newBackup(options ...option) *etcdv1beta2.EtcdBackup {
	b := &etcdv1beta2.EtcdBackup{}
	b.Namespace, b.Name, b.UID, b.Generation = "data", "nightly", "uid-of-nightly", 1
	b.CreationTimestamp = metav1.NewTime(noon)
	b.Spec.EtcdEndpoints = []string{"http://example-client:2379"}
	b.Spec.StorageType = etcdv1beta2.StorageS3
	b.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/example", AWSSecret: "aws"}
	for _, o := range options {
		o(b)
	}
	return b
}

func every(seconds int64) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &etcdv1beta2.BackupPolicy{BackupIntervalInSecond: seconds, MaxBackups: 5}
	}
}

func cron(schedule, zone string) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &etcdv1beta2.BackupPolicy{Schedule: schedule, TimeZone: zone}
	}
}

func verified(every int32) option {
	return func(b *etcdv1beta2.EtcdBackup) { b.Spec.Verify = &etcdv1beta2.VerifyPolicy{Every: every} }
}

func withPath(path string) option {
	return func(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.Path = path }
}

func suspended(b *etcdv1beta2.EtcdBackup) { b.Spec.Suspend = true }

func edited(b *etcdv1beta2.EtcdBackup) { b.Generation++ }

// inRun has a run be in a phase that was due so long after noon.
func inRun(phase string, due time.Duration) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Status.Run = &etcdv1beta2.BackupRun{Due: metav1.NewTime(noon.Add(due)), Phase: phase, Generation: 1}
	}
}

// gaveUp has the run have failed so long after noon, after so many since the last time of the schedule.
func gaveUp(ended time.Duration, reason backup.Reason, failures int32) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		at := metav1.NewTime(noon.Add(ended))
		b.Status.Run.Phase, b.Status.Run.Ended, b.Status.Run.Reason, b.Status.Run.Failures = etcdv1beta2.RunFailed, &at, string(reason), failures
	}
}

// hasSaved has an earlier backup have succeeded.
func hasSaved(b *etcdv1beta2.EtcdBackup) {
	at := metav1.NewTime(noon.Add(-time.Hour))
	b.Status.Last = &etcdv1beta2.BackupRecord{Object: sevenMade, Revision: 7, Size: 20480, Time: &at}
	b.Status.Succeeded, b.Status.Count, b.Status.LastSuccessDate = true, 1, &at
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
		Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionTrue, Reason: etcdv1beta2.ReasonSaved, Message: "Saved " + sevenMade})
}

// fromCoreOS has the status that the CoreOS operator gave it.
func fromCoreOS(b *etcdv1beta2.EtcdBackup) {
	b.Status = etcdv1beta2.EtcdBackupStatus{Succeeded: true, EtcdRevision: 7, EtcdVersion: "3.2.13"}
}

// hasFailed has the last backup have failed.
func hasFailed(b *etcdv1beta2.EtcdBackup) {
	b.Status.Succeeded, b.Status.Reason = false, "S3: connection refused"
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
		Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionFalse, Reason: "StoreUnreachable", Message: "S3: connection refused"})
}

type podOption func(*corev1.Pod)

// podOf is one of an attempt, and has been at work for ten seconds.
func podOf(b *etcdv1beta2.EtcdBackup, t task, attempt int, options ...podOption) corev1.Pod {
	w := work{task: t, due: b.Status.Run.Due.Time, attempt: attempt}
	pod := corev1.Pod{}
	pod.Namespace, pod.Name, pod.Labels = b.Namespace, w.podName(b), w.labels()
	pod.Spec.ActiveDeadlineSeconds = new(int64((limitOf(b, t) + slack).Seconds()))
	pod.CreationTimestamp = metav1.NewTime(noon.Add(-20 * time.Second))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = &metav1.Time{Time: noon.Add(-10 * time.Second)}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: string(t), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	for _, o := range options {
		o(&pod)
	}
	return pod
}

// told has a pod have ended so long before noon, with last words.
func told(before time.Duration, r backup.Result) podOption {
	return func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodSucceeded
		if r.Outcome != backup.Succeeded {
			pod.Status.Phase = corev1.PodFailed
		}
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			FinishedAt: metav1.NewTime(noon.Add(-before)), Message: string(r.Encode()),
		}}
	}
}

// wordless has a pod have failed without a word of its own.
func wordless(reason string) podOption {
	return func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.Reason, pod.Status.ContainerStatuses = corev1.PodFailed, reason, nil
	}
}

// unheard has no one tell of a pod for an hour.
func unheard(pod *corev1.Pod) {
	pod.Status.StartTime = &metav1.Time{Time: noon.Add(-time.Hour)}
}

func unpulled(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodPending
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}}
}

// sevenMade is a backup of revision 7.
const sevenMade = "backups/example_v7_2026-08-01-11:00:00"

var (
	good = backup.Result{Outcome: backup.Succeeded, Object: "backups/example", Revision: 42, EtcdVersion: "3.6.16", Size: 20512, SavedAt: noon}
	away = backup.Result{Outcome: backup.Failed, Reason: "ServerUnreachable", Message: "S3: connection refused"}
	// unpruned is complete, beside older ones that are too many.
	unpruned = backup.Result{
		Outcome: backup.Succeeded, Reason: backup.ReasonPruneFailed, Message: "older ones could not be removed: denied",
		Object: "backups/example", Revision: 42, EtcdVersion: "3.6.16", Size: 20512, SavedAt: noon,
	}
	wild = backup.Result{Outcome: backup.Invalid, Reason: "InvalidOrder", Message: "path: nothing behind the bucket"}
)

// reported is what the status says at noon.
func reported(t testing.TB, b *etcdv1beta2.EtcdBackup, f facts) *etcdv1beta2.EtcdBackup {
	t.Helper()
	out := b.DeepCopy()
	if len(out.Status.Conditions) == 0 { // the CRD's default
		out.Status.Conditions = []metav1.Condition{{Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionUnknown, Reason: "Pending"}}
	}
	f.now = noon
	(&reconciler{}).Report(out, f, kit.Outcome{}, noon)
	return out
}

func conditionOf(b *etcdv1beta2.EtcdBackup, kind string) string {
	c := meta.FindStatusCondition(b.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}
