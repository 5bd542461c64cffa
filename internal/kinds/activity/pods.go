// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// status is what a pod says of the container that runs the command.
func status(pod *corev1.Pod) corev1.ContainerStatus {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == container {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// cutShort is how a container runtime calls a start that failed.
const cutShort = "StartError"

// begun reports whether the runner was started, or may have been: a start is cut short, too, when
// the kubelet that asked for it is killed, and by then the command may be at work.
func begun(pod *corev1.Pod) bool {
	s := status(pod)
	end := s.State.Terminated
	return s.State.Running != nil || s.LastTerminationState.Terminated != nil ||
		end != nil && (!end.StartedAt.IsZero() || end.Reason == cutShort)
}

// ended reports whether the pod runs no more, by the kubelet's word; one that no kubelet has
// ends when it is deleted.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed ||
		pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
}

// hostAnswers reports whether the node's kubelet was heard of. When it is not, the node
// controller says that its pods are not ready, and leaves standing what the kubelet said last
// of their containers.
func hostAnswers(pod *corev1.Pod) bool {
	return !is(pod, corev1.PodReady, corev1.ConditionFalse) || !is(pod, corev1.ContainersReady, corev1.ConditionTrue)
}

func is(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind && c.Status == status })
}

// told is what the runner said, nil for nothing.
func told(pod *corev1.Pod) *hostjob.Result {
	t := status(pod).State.Terminated
	if t == nil {
		return nil
	}
	result, err := hostjob.ParseResult(t.Message)
	if err != nil {
		return nil
	}
	return &result
}
