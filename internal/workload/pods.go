// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload contains what kinds that run pods share: builders of Deployments, Services and disruption budgets,
// the progress of rollouts, and explanations of why a pod is not ready. Code that only one kind needs belongs to the
// package of that kind.
package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// lastWords is how many bytes of a container's last output a message quotes.
const lastWords = 300

// Ready reports whether a pod is ready and not being deleted.
func Ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && podCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

// ReadyChanged returns when a pod last became ready or unready, in whole seconds; zero if unknown.
func ReadyChanged(pod *corev1.Pod) time.Time {
	return podCondition(pod, corev1.PodReady).LastTransitionTime.Time
}

// unbound is part of the scheduler's message about a pod whose claims have no volumes yet. A pod with this message does
// not count as stuck: most claims get a volume soon, and events of the claim explain all other cases better.
const unbound = "unbound immediate PersistentVolumeClaims"

// WhyNotReady returns why a pod is not ready, with the message of the scheduler, kubelet or container runtime; "" if it
// is ready. stuck is true if a user may have to act, and false if the pod is only starting.
func WhyNotReady(pod *corev1.Pod) (why string, stuck bool) {
	if Ready(pod) {
		return "", false
	}
	if pod.DeletionTimestamp != nil {
		if lost(pod) {
			return fmt.Sprintf("the pod is being deleted, and node %s does not answer; if the node is gone for good, delete the Node or taint it %s", pod.Spec.NodeName, corev1.TaintNodeOutOfService), true
		}
		return "the pod is being deleted", false
	}
	if c := podCondition(pod, corev1.PodScheduled); c.Status == corev1.ConditionFalse {
		return fmt.Sprintf("the pod cannot be scheduled: %s", c.Message), !strings.Contains(c.Message, unbound)
	}
	for _, status := range statuses(pod) {
		if why := whyContainer(status); why != "" {
			return why, true
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return cmp.Or(pod.Status.Message, pod.Status.Reason, "the pod failed"), true
	}
	if lost(pod) {
		return fmt.Sprintf("the containers are ready, but node %s does not answer, or a readiness gate of the pod is false", pod.Spec.NodeName), true
	}
	return probed(pod), false
}

// probed describes a pod whose containers run, but whose probes have not succeeded yet.
func probed(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Running != nil && !status.Ready {
			return fmt.Sprintf("container %s runs, and its readiness probe does not succeed yet", status.Name)
		}
	}
	return "the pod is starting"
}

// lost reports whether the node of a pod does not answer. In that case the control plane sets Ready to False, while the
// kubelet's last status still reports ready containers.
func lost(pod *corev1.Pod) bool {
	return podCondition(pod, corev1.PodReady).Status == corev1.ConditionFalse &&
		podCondition(pod, corev1.ContainersReady).Status == corev1.ConditionTrue
}

// whyContainer returns why a container is not running. While a kubelet waits to restart a container that crashed, it
// shows the last end of the container for most of the time, and CrashLoopBackOff for the rest.
func whyContainer(status corev1.ContainerStatus) string {
	waiting, ended := status.State.Waiting, status.State.Terminated
	switch {
	case ended != nil && ended.ExitCode != 0 && status.RestartCount > 0:
		return fmt.Sprintf("container %s crashes%s%s", status.Name, times(status.RestartCount), lastExit(status))
	case waiting == nil || waiting.Reason == "ContainerCreating" || waiting.Reason == "PodInitializing":
		return ""
	case waiting.Reason == "CrashLoopBackOff":
		return fmt.Sprintf("container %s crashes%s%s", status.Name, times(status.RestartCount), lastExit(status))
	}
	return fmt.Sprintf("container %s: %s: %s", status.Name, waiting.Reason, waiting.Message)
}

// times returns words about the number of restarts to append to a message; "" for at most one restart.
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
	last := cmp.Or(status.State.Terminated, status.LastTerminationState.Terminated)
	if last == nil {
		return ""
	}
	if last.Message == "" {
		return fmt.Sprintf(" (last: %s, exit code %d)", cmp.Or(last.Reason, "Error"), last.ExitCode)
	}
	return fmt.Sprintf(" (last: %s, exit code %d: %s)", cmp.Or(last.Reason, "Error"), last.ExitCode,
		ending(strings.Join(strings.Fields(last.Message), " "), lastWords))
}

// ending returns the end of a container's output, which usually explains why the container ended.
func ending(text string, most int) string {
	if len(text) <= most {
		return text
	}
	_, whole, _ := strings.Cut(text[len(text)-most:], " ") // the quote starts with a complete word
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
