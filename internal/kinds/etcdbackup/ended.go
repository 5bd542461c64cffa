// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/backup"
)

// What is known of a pod that ended without a word of its own.
const (
	reasonPodFailed = "PodFailed"
	reasonPodSilent = "PodSilent"
)

// slack is what a pod has beyond the time of its order, for its image and volumes to come.
const slack = 5 * time.Minute

// silence is how long after that a pod is given up of which nobody tells that it ended: its node may
// be gone.
const silence = time.Minute

// outcome is how a pod ended, nil while it has not.
func outcome(pod *corev1.Pod, now time.Time, limit time.Duration) *backup.Result {
	terminated := status(pod).State.Terminated
	if terminated != nil {
		if result, err := backup.ParseResult(terminated.Message); err == nil {
			return &result
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return &backup.Result{Outcome: backup.Failed, Reason: reasonPodFailed, Message: "pod " + pod.Name + " ended: " + lastWords(pod)}
	case pod.Status.StartTime != nil && now.Sub(pod.Status.StartTime.Time) > limit+slack+silence:
		return &backup.Result{Outcome: backup.Failed, Reason: reasonPodSilent, Message: fmt.Sprintf("nobody has told that pod %s ended, which was to take %s at most", pod.Name, limit)}
	}
	return nil
}

// endedAt is when a pod ended, as far as is known.
func endedAt(pod *corev1.Pod, now time.Time) time.Time {
	if t := status(pod).State.Terminated; t != nil && !t.FinishedAt.IsZero() {
		return t.FinishedAt.Time
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
			return c.LastTransitionTime.Time
		}
	}
	return now
}

// status is that of the only container.
func status(pod *corev1.Pod) corev1.ContainerStatus {
	if len(pod.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return pod.Status.ContainerStatuses[0]
}

// lastWords are what is said of a pod that ended, by the kubelet or by whoever gave it up.
func lastWords(pod *corev1.Pod) string {
	if words := cmp.Or(pod.Status.Message, pod.Status.Reason); words != "" {
		return words
	}
	if t := status(pod).State.Terminated; t != nil {
		return fmt.Sprintf("%s, exit code %d", cmp.Or(t.Reason, "Error"), t.ExitCode)
	}
	return "its phase is " + string(pod.Status.Phase)
}
