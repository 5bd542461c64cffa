// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// ContainerStatus returns the status of the container that runs the command.
func ContainerStatus(pod *corev1.Pod) corev1.ContainerStatus {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == Container {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// cutShort is the reason that a container runtime reports for a failed start.
const cutShort = "StartError"

// begun reports whether the container started or may have started. If the kubelet is killed while it starts the
// container, the start is reported as failed although the command may be running.
func begun(pod *corev1.Pod) bool {
	s := ContainerStatus(pod)
	end := s.State.Terminated
	return s.State.Running != nil || s.LastTerminationState.Terminated != nil ||
		end != nil && (!end.StartedAt.IsZero() || end.Reason == cutShort)
}

// Ended reports whether the pod has ended, according to its kubelet. A pod without a node has ended as soon as it is
// deleted.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed ||
		pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
}

// hostReachable reports whether the kubelet of the pod responds. If the kubelet does not, the node controller sets the
// pod's condition Ready to False, but ContainersReady keeps the last value from the kubelet.
func hostReachable(pod *corev1.Pod) bool {
	return !is(pod, corev1.PodReady, corev1.ConditionFalse) || !is(pod, corev1.ContainersReady, corev1.ConditionTrue)
}

func is(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind && c.Status == status })
}

// ResultOf returns the result that the agent in the pod reported; nil if there is none.
func ResultOf(pod *corev1.Pod) *hostjob.Result {
	t := ContainerStatus(pod).State.Terminated
	if t == nil {
		return nil
	}
	result, err := hostjob.ParseResult(t.Message)
	if err != nil {
		return nil
	}
	return &result
}
