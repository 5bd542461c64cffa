// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/workload"
)

// What is known of a run, or of a pod that ended without a word of its own.
const (
	reasonMoved     = "SpecChanged"
	reasonAhead     = "NotYetDue"
	reasonPodFailed = "PodFailed"
	reasonPodSilent = "PodSilent"
	// reasonPodUnbegun is of one that its kubelet has never spoken of, or that is not there at all.
	reasonPodUnbegun = "PodNotBegun"
)

// slack is what a pod has beyond the time of its order, for its image and volumes to come.
const slack = 5 * time.Minute

// silence is how long after its deadline a pod is given up of which no one reports that it ended: its
// node may be gone.
const silence = time.Minute

// outcome is how a pod ended, nil while it has not.
func outcome(pod *corev1.Pod, now time.Time) *backup.Result {
	terminated := status(pod).State.Terminated
	if terminated != nil {
		if result, err := backup.ParseResult(terminated.Message); err == nil {
			return &result
		}
	}
	end := deadline(pod)
	switch {
	case terminated != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return &backup.Result{Outcome: backup.Failed, Reason: reasonPodFailed, Message: "pod " + pod.Name + " ended: " + lastWords(pod)}
	case !end.IsZero() && now.After(end) && !begun(pod):
		why, _ := workload.WhyNotReady(pod)
		return &backup.Result{Outcome: backup.Failed, Reason: reasonPodUnbegun, Message: fmt.Sprintf("pod %s has not begun until %s: %s",
			pod.Name, end.UTC().Format(time.RFC3339), why)}
	case !end.IsZero() && now.After(end):
		return &backup.Result{Outcome: backup.Failed, Reason: reasonPodSilent, Message: fmt.Sprintf("nobody has told that pod %s ended, which its kubelet was to end at %s",
			pod.Name, end.Add(-silence).UTC().Format(time.RFC3339))}
	}
	return nil
}

// deadline is when a pod is given up that no one reports. Its kubelet has ended it before, also where no one hears
// that: the next pod never works beside it. One that was not begun is given up, too, and deleted when there is
// another: its node may have died before the kubelet said a word.
func deadline(pod *corev1.Pod) time.Time {
	limit := time.Duration(ptr.Deref(pod.Spec.ActiveDeadlineSeconds, 0)) * time.Second
	switch {
	case limit == 0:
		return time.Time{} // nothing ends it
	case !begun(pod) && pod.DeletionTimestamp != nil:
		return pod.DeletionTimestamp.Add(silence)
	}
	start := ptr.Deref(pod.Status.StartTime, pod.CreationTimestamp)
	return start.Add(limit + silence)
}

// begun reports whether a kubelet has said something of a pod.
func begun(pod *corev1.Pod) bool {
	return pod.Status.StartTime != nil || pod.Status.Phase != corev1.PodPending && pod.Status.Phase != ""
}

// outdated reports whether a pod does not work yet and was made for an earlier spec that differs in what a pod is made
// with. It may wait for what the edit has corrected, such as a node selector that no node has. Its successor has the
// same name, so that it is gone before.
func outdated(b *etcdv1beta2.EtcdBackup, pod *corev1.Pod) bool {
	generation, err := strconv.ParseInt(pod.Annotations[generationAnnotation], 10, 64)
	waits := pod.Status.Phase == corev1.PodPending || pod.Status.Phase == ""
	return err == nil && generation < b.Generation && pod.Annotations[wishesAnnotation] != declared(b) && waits && status(pod).State.Running == nil && status(pod).State.Terminated == nil
}

// overdue is the end of a proof whose container does not run when the next backup is due: that is not to wait for it.
func overdue(pod *corev1.Pod, now time.Time) *backup.Result {
	if status(pod).State.Running != nil || now.Before(pod.CreationTimestamp.Add(silence)) {
		return nil
	}
	why, _ := workload.WhyNotReady(pod)
	return &backup.Result{Outcome: backup.Failed, Reason: reasonPodUnbegun, Message: fmt.Sprintf("pod %s had not begun when the next backup was due: %s", pod.Name, why)}
}

// endedAt is when a pod ended, as far as is known, and else when it began: one that its kubelet
// did not take has nothing else.
func endedAt(pod *corev1.Pod) time.Time {
	if t := status(pod).State.Terminated; t != nil && !t.FinishedAt.IsZero() {
		return t.FinishedAt.Time
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
			return c.LastTransitionTime.Time
		}
	}
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}

// status is that of the container that does the work; others can have put more into the pod.
func status(pod *corev1.Pod) corev1.ContainerStatus {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == string(save) || s.Name == string(verify) {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// lastWords are what is said of a pod that ended, by the kubelet or by anyone who gave it up.
func lastWords(pod *corev1.Pod) string {
	if words := cmp.Or(pod.Status.Message, pod.Status.Reason); words != "" {
		return words
	}
	if t := status(pod).State.Terminated; t != nil {
		return fmt.Sprintf("%s, exit code %d", cmp.Or(t.Reason, "Error"), t.ExitCode)
	}
	return "its phase is " + string(pod.Status.Phase)
}

// declared is a hash of all that a pod is made with. What only says when backups are made is no part of it.
func declared(b *etcdv1beta2.EtcdBackup) string {
	spec := b.Spec.DeepCopy()
	spec.Suspend, spec.Verify = false, nil
	spec.BackupPolicy = &etcdv1beta2.BackupPolicy{TimeoutInSecond: policyOf(b).TimeoutInSecond, MaxBackups: policyOf(b).MaxBackups}
	return ensure.Hash(spec)
}
