// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/workload"
)

// Ended reports whether the containers of a pod will never run again, as after an eviction.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Broken reports whether etcd does not run in a pod, for a reason that may last, such as a wrong image.
func Broken(pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || !RunsSince(pod).IsZero() {
		return false
	}
	_, stuck := workload.WhyNotReady(pod)
	return stuck
}

// VersionOf returns the etcd version that a pod runs or is changing to; "" without a pod.
func VersionOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return strings.TrimPrefix(pod.Annotations[etcdv1beta2.VersionAnnotation], "v")
}

// RunsSince returns the time at which etcd started in a pod; zero if etcd is not running.
func RunsSince(pod *corev1.Pod) time.Time {
	if pod == nil {
		return time.Time{}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == Container && status.State.Running != nil {
			return status.State.Running.StartedAt.Time
		}
	}
	return time.Time{}
}
