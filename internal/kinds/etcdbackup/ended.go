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
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/agenda"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/workload"
)

// Reasons in the status for a run that failed without a result from its pod.
const (
	reasonMoved     = "SpecChanged"
	reasonAhead     = "NotYetDue"
	reasonPodFailed = "PodFailed"
	reasonPodSilent = "PodSilent"
	// reasonPodUnbegun is the reason for a pod that did not start in time: its kubelet never reported a status.
	reasonPodUnbegun = "PodNotBegun"
)

// slack is the time that a pod gets in addition to the time limit of its task, to pull its image and mount its volumes.
const slack = 5 * time.Minute

// silence is how long opcrew waits after a pod's deadline for a report that the pod has ended. If the pod's node is
// gone, no report ever comes.
const silence = time.Minute

// outcome returns the result of a pod. This is the result that its container reported, or a failure if the pod has
// ended without a result or missed its deadline. outcome returns nil while the pod may still finish.
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
		return &backup.Result{Outcome: backup.Failed, Reason: reasonPodUnbegun, Message: fmt.Sprintf("pod %s did not start before %s: %s",
			pod.Name, end.UTC().Format(time.RFC3339), why)}
	case !end.IsZero() && now.After(end):
		return &backup.Result{Outcome: backup.Failed, Reason: reasonPodSilent, Message: fmt.Sprintf("no result of pod %s was reported; its kubelet should have ended the pod at %s",
			pod.Name, end.Add(-silence).UTC().Format(time.RFC3339))}
	}
	return nil
}

// deadline returns the time after which opcrew no longer waits for a pod that has not reported its end; zero if the pod
// has no deadline. The kubelet kills the container before this time, so that no two pods ever work at the same time.
func deadline(pod *corev1.Pod) time.Time {
	limit := time.Duration(ptr.Deref(pod.Spec.ActiveDeadlineSeconds, 0)) * time.Second
	switch {
	case limit == 0:
		return time.Time{} // the pod has no deadline
	case !begun(pod) && pod.DeletionTimestamp != nil:
		return pod.DeletionTimestamp.Add(silence)
	}
	start := ptr.Deref(pod.Status.StartTime, pod.CreationTimestamp)
	return start.Add(limit + silence)
}

// begun reports whether a kubelet has started to work on a pod: it has reported a start time or a phase.
func begun(pod *corev1.Pod) bool {
	return pod.Status.StartTime != nil || pod.Status.Phase != corev1.PodPending && pod.Status.Phase != ""
}

// outdated reports whether a pod has not started yet and has settings that differ from the current spec. An edit of the
// spec may fix what prevents the start. The pod must be deleted before its replacement is created, because both have
// the same name.
func outdated(b *etcdv1beta2.EtcdBackup, pod *corev1.Pod) bool {
	generation, err := strconv.ParseInt(pod.Annotations[generationAnnotation], 10, 64)
	waits := pod.Status.Phase == corev1.PodPending || pod.Status.Phase == ""
	return err == nil && generation < b.Generation && pod.Annotations[settingsAnnotation] != declared(b) && waits && status(pod).State.Running == nil && status(pod).State.Terminated == nil
}

// overdue returns a failure for a verification pod that is still not running when the next backup is due; nil if the
// pod runs or is new. The next backup must not wait for a verification.
func overdue(pod *corev1.Pod, now time.Time) *backup.Result {
	if status(pod).State.Running != nil || now.Before(pod.CreationTimestamp.Add(silence)) {
		return nil
	}
	why, _ := workload.WhyNotReady(pod)
	return &backup.Result{Outcome: backup.Failed, Reason: reasonPodUnbegun, Message: fmt.Sprintf("pod %s had not started when the next backup was due: %s", pod.Name, why)}
}

// endedAt returns when a pod ended. If the end time is unknown, endedAt returns when the pod started or was created.
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

// status returns the status of the container that saves or verifies the backup. It skips containers that admission
// webhooks injected into the pod, such as sidecars.
func status(pod *corev1.Pod) corev1.ContainerStatus {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == string(save) || s.Name == string(verify) {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// lastWords returns the best available explanation of why a pod ended without a result.
func lastWords(pod *corev1.Pod) string {
	if words := cmp.Or(pod.Status.Message, pod.Status.Reason); words != "" {
		return words
	}
	if t := status(pod).State.Terminated; t != nil {
		return fmt.Sprintf("%s, exit code %d", cmp.Or(t.Reason, "Error"), t.ExitCode)
	}
	return "its phase is " + string(pod.Status.Phase)
}

// declared returns a hash of the settings that affect a backup pod. It ignores the settings that only decide when
// backups run.
func declared(b *etcdv1beta2.EtcdBackup) string {
	spec := b.Spec.DeepCopy()
	spec.Suspend, spec.Verify = false, nil
	spec.BackupPolicy = &etcdv1beta2.BackupPolicy{TimeoutInSecond: agenda.Policy(b).TimeoutInSecond, MaxBackups: agenda.Policy(b).MaxBackups}
	return ensure.Hash(spec)
}
