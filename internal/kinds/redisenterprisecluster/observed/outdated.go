// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/workload"
)

// Outdated returns the pods that do not match the spec, in order of their ordinals. It returns no pods until the
// StatefulSet controller has observed the last change.
func (p Pods) Outdated(members workload.Members) []*corev1.Pod {
	set := members.Set
	if set == nil || members.Behind || set.Status.ObservedGeneration < set.Generation || set.Status.UpdateRevision == "" {
		return nil
	}
	var out []*corev1.Pod
	for _, pod := range p.ByOrdinal {
		if pod != nil && pod.DeletionTimestamp == nil && pod.Labels[appsv1.ControllerRevisionHashLabelKey] != set.Status.UpdateRevision {
			out = append(out, pod)
		}
	}
	return out
}

// Upgrades reports whether any outdated pod runs a server image that differs from the one in the StatefulSet's template.
func Upgrades(set *appsv1.StatefulSet, outdated []*corev1.Pod) bool {
	if set == nil {
		return false
	}
	image := serverImage(set.Spec.Template.Spec)
	return slices.ContainsFunc(outdated, func(pod *corev1.Pod) bool { return serverImage(pod.Spec) != image })
}

func serverImage(spec corev1.PodSpec) string {
	for _, c := range spec.Containers {
		if c.Name == desired.HomeContainer {
			return c.Image
		}
	}
	return ""
}
