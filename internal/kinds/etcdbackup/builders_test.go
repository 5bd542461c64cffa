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
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

type podOption func(*corev1.Pod)

// podOf returns the pod of an attempt. It has been running for ten seconds.
func podOf(b *etcdv1beta2.EtcdBackup, t task, attempt int, options ...podOption) corev1.Pod {
	w := work{task: t, due: b.Status.Run.Due.Time, attempt: attempt}
	pod := corev1.Pod{}
	pod.Namespace, pod.Name, pod.Labels = b.Namespace, w.podName(b), w.labels()
	pod.Spec.ActiveDeadlineSeconds = new(int64((limitOf(b, t) + slack).Seconds()))
	pod.CreationTimestamp = metav1.NewTime(backuptest.Noon.Add(-20 * time.Second))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = &metav1.Time{Time: backuptest.Noon.Add(-10 * time.Second)}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: string(t), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	for _, o := range options {
		o(&pod)
	}
	return pod
}

// reporting makes a pod that ended with the given result. The pod ended the given duration before noon.
func reporting(before time.Duration, r backup.Result) podOption {
	return func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodSucceeded
		if r.Outcome != backup.Succeeded {
			pod.Status.Phase = corev1.PodFailed
		}
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			FinishedAt: metav1.NewTime(backuptest.Noon.Add(-before)), Message: string(r.Encode()),
		}}
	}
}

// withoutResult makes a pod fail without a result.
func withoutResult(reason string) podOption {
	return func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.Reason, pod.Status.ContainerStatuses = corev1.PodFailed, reason, nil
	}
}

// unheard makes a pod that started an hour ago and has reported nothing since.
func unheard(pod *corev1.Pod) {
	pod.Status.StartTime = &metav1.Time{Time: backuptest.Noon.Add(-time.Hour)}
}

func unpulled(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodPending
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}}
}

var (
	good = backup.Result{Outcome: backup.Succeeded, Object: "backups/example", Revision: 42, EtcdVersion: "3.6.16", Size: 20512, SavedAt: backuptest.Noon}
	away = backup.Result{Outcome: backup.Failed, Reason: "ServerUnreachable", Message: "S3: connection refused"}
	// unpruned is the result of a backup that succeeded although old backups could not be deleted.
	unpruned = backup.Result{
		Outcome: backup.Succeeded, Reason: backup.ReasonPruneFailed, Message: "older ones could not be removed: denied",
		Object: "backups/example", Revision: 42, EtcdVersion: "3.6.16", Size: 20512, SavedAt: backuptest.Noon,
	}
	wild = backup.Result{Outcome: backup.Invalid, Reason: "InvalidOrder", Message: "path: nothing behind the bucket"}
)

// reported returns the EtcdBackup with its new status at noon.
func reported(t testing.TB, b *etcdv1beta2.EtcdBackup, f facts) *etcdv1beta2.EtcdBackup {
	t.Helper()
	out := b.DeepCopy()
	if len(out.Status.Conditions) == 0 { // the CRD sets these conditions by default
		out.Status.Conditions = []metav1.Condition{{Type: etcdv1beta2.EtcdBackupSaved, Status: metav1.ConditionUnknown, Reason: "Pending"}}
	}
	f.now = backuptest.Noon
	reportAt(out, f, kit.Outcome{}, backuptest.Noon)
	return out
}

func conditionOf(b *etcdv1beta2.EtcdBackup, kind string) string {
	c := meta.FindStatusCondition(b.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}
