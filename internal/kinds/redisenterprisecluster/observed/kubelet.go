// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package observed

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Ended reports whether the kubelet has reported that all containers of a pod have stopped for good.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Broken reports whether the kubelet has reported that one of the servers of a pod does not run. A rollout replaces
// such a pod without waiting, because the new template may repair it.
func Broken(pod *corev1.Pod) bool {
	running := 0
	for _, status := range pod.Status.ContainerStatuses {
		if (status.Name == desired.HomeContainer || status.Name == desired.GuestContainer) && status.State.Running != nil {
			running++
		}
	}
	return running < 2
}

// AnyRuns reports whether the kubelet has reported any pod whose two servers both run.
func AnyRuns(pods map[string]*corev1.Pod) bool {
	for _, pod := range pods {
		if !Broken(pod) {
			return true
		}
	}
	return false
}

// notRunning returns the servers of a pod whose containers do not run, as the kubelet reported.
func notRunning(pod *corev1.Pod) map[redis.Place]bool {
	out := map[redis.Place]bool{}
	for _, status := range pod.Status.ContainerStatuses {
		out[redis.Place(status.Name)] = status.State.Running == nil
	}
	return out
}
