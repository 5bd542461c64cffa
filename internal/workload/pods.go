// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload is what kinds that run pods share: builders of Deployment, Service and
// disruption budget, what a rollout has come to, and why a pod is not ready, in one line.
//
// Which of these a kind has, and what else, is in the kind's own package.
package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// lastWords is how much is told, in bytes, of what a container said at its end.
const lastWords = 300

// Ready reports whether a pod is ready and not going away.
func Ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && podCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

// Turned is when a pod became ready, or ceased to be, in seconds; zero if no one said.
func Turned(pod *corev1.Pod) time.Time {
	return podCondition(pod, corev1.PodReady).LastTransitionTime.Time
}

// unbound is what the scheduler says of a pod whose claims have no volumes yet: most have them
// a moment later, and of those that do not the claims tell more.
const unbound = "unbound immediate PersistentVolumeClaims"

// WhyNotReady explains what keeps a pod from being ready, or is empty for a ready one.
// The words are those of the scheduler, the kubelet or the runtime, which know best.
// stuck tells a cause that may need a hand from a pod that is merely on its way.
func WhyNotReady(pod *corev1.Pod) (why string, stuck bool) {
	if Ready(pod) {
		return "", false
	}
	if pod.DeletionTimestamp != nil {
		if lost(pod) {
			return fmt.Sprintf("it is being deleted, and node %s does not answer; if the node is gone for good, delete the Node or taint it %s", pod.Spec.NodeName, corev1.TaintNodeOutOfService), true
		}
		return "it is being deleted", false
	}
	if c := podCondition(pod, corev1.PodScheduled); c.Status == corev1.ConditionFalse {
		return fmt.Sprintf("it cannot be scheduled: %s", c.Message), !strings.Contains(c.Message, unbound)
	}
	for _, status := range statuses(pod) {
		if why := whyContainer(status); why != "" {
			return why, true
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return cmp.Or(pod.Status.Message, pod.Status.Reason, "it failed"), true
	}
	if lost(pod) {
		return fmt.Sprintf("its containers are ready but node %s does not answer, or a readiness gate is closed", pod.Spec.NodeName), true
	}
	return probed(pod), false
}

// probed reports a pod whose containers run: only their probes are missing then.
func probed(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Running != nil && !status.Ready {
			return fmt.Sprintf("container %s runs, and its readiness probe does not succeed yet", status.Name)
		}
	}
	return "it is starting"
}

// lost reports whether the control plane took Ready from a pod whose containers the kubelet
// calls ready: no one else does.
func lost(pod *corev1.Pod) bool {
	return podCondition(pod, corev1.PodReady).Status == corev1.ConditionFalse &&
		podCondition(pod, corev1.ContainersReady).Status == corev1.ConditionTrue
}

// whyContainer explains what keeps one container from running.
func whyContainer(status corev1.ContainerStatus) string {
	waiting := status.State.Waiting
	switch {
	case waiting == nil || waiting.Reason == "ContainerCreating" || waiting.Reason == "PodInitializing":
		return ""
	case waiting.Reason == "CrashLoopBackOff":
		return fmt.Sprintf("container %s crashes%s%s", status.Name, times(status.RestartCount), lastExit(status))
	}
	return fmt.Sprintf("container %s: %s: %s", status.Name, waiting.Reason, waiting.Message)
}

// times says how often; a container that was recreated since is not counted yet.
func times(n int32) string {
	switch n {
	case 0:
		return " again and again"
	case 1:
		return ""
	}
	return fmt.Sprintf(" again and again, %d times so far", n)
}

func lastExit(status corev1.ContainerStatus) string {
	last := status.LastTerminationState.Terminated
	if last == nil {
		return ""
	}
	if last.Message == "" {
		return fmt.Sprintf(" (last: %s, exit code %d)", cmp.Or(last.Reason, "Error"), last.ExitCode)
	}
	return fmt.Sprintf(" (last: %s, exit code %d: %s)", cmp.Or(last.Reason, "Error"), last.ExitCode,
		ending(strings.Join(strings.Fields(last.Message), " "), lastWords))
}

// ending is the end of what a container printed: that is what it ended by.
func ending(text string, most int) string {
	if len(text) <= most {
		return text
	}
	_, whole, _ := strings.Cut(text[len(text)-most:], " ") // from a word on
	return "... " + whole
}

func statuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}
