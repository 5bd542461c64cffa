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

	corev1 "k8s.io/api/core/v1"
)

// Ready tells whether a pod is ready and not going away.
func Ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && podCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

// WhyNotReady explains what keeps a pod from being ready, or is empty for a ready one.
// The words are those of the scheduler, the kubelet or the runtime, which know best.
// stuck tells a cause that may need a hand from a pod that is merely on its way.
func WhyNotReady(pod *corev1.Pod) (why string, stuck bool) {
	if Ready(pod) {
		return "", false
	}
	if pod.DeletionTimestamp != nil {
		return "it is being deleted", false
	}
	if c := podCondition(pod, corev1.PodScheduled); c.Status == corev1.ConditionFalse {
		return fmt.Sprintf("it cannot be scheduled: %s", c.Message), true
	}
	for _, status := range statuses(pod) {
		if why := whyContainer(status); why != "" {
			return why, true
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return cmp.Or(pod.Status.Message, pod.Status.Reason, "it failed"), true
	}
	// Only the control plane takes Ready from a pod whose containers the kubelet calls ready.
	if podCondition(pod, corev1.ContainersReady).Status == corev1.ConditionTrue {
		return fmt.Sprintf("its containers are ready but node %s does not answer, or a readiness gate is closed", pod.Spec.NodeName), true
	}
	return "it is starting", false
}

// whyContainer explains what keeps one container from running.
func whyContainer(status corev1.ContainerStatus) string {
	waiting := status.State.Waiting
	switch {
	case waiting == nil || waiting.Reason == "ContainerCreating" || waiting.Reason == "PodInitializing":
		return ""
	case waiting.Reason == "CrashLoopBackOff":
		return fmt.Sprintf("container %s crashes again and again, %d times so far%s", status.Name, status.RestartCount, lastExit(status))
	}
	return fmt.Sprintf("container %s: %s: %s", status.Name, waiting.Reason, waiting.Message)
}

func lastExit(status corev1.ContainerStatus) string {
	last := status.LastTerminationState.Terminated
	if last == nil {
		return ""
	}
	return fmt.Sprintf(" (last: %s, exit code %d)", cmp.Or(last.Reason, "Error"), last.ExitCode)
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
