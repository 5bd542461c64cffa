// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redispods

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tell repeatedly sets the condition Ready of every pod to what the agent in a real pod would report.
func (k *Kubelets) tell(ctx context.Context) {
	for {
		for _, pod := range k.all() {
			if ready := k.World.InRing(string(pod.UID)); ready != isReady(pod) {
				k.write(ctx, pod, ready)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(glance):
		}
	}
}

func (k *Kubelets) all() []*corev1.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.pods))
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// write writes the status of a pod as a kubelet does. It does nothing if the pod has been deleted.
func (k *Kubelets) write(ctx context.Context, seen *corev1.Pod, ready bool) {
	pod, status := seen.DeepCopy(), corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	for i, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			pod.Status.Conditions[i].Status = status
		}
	}
	for i, c := range pod.Status.ContainerStatuses {
		if c.Name == "agent" {
			pod.Status.ContainerStatuses[i].Ready = ready
		}
	}
	if k.client.Status().Patch(ctx, pod, client.MergeFrom(seen)) == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.pods[pod.UID] != nil {
			k.pods[pod.UID] = pod
		}
	}
}
