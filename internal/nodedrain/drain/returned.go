// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// hasReturned reports whether a pod came to the node after its cordon, because it tolerates the cordon. Its controller
// would replace it here again and again, as that of a DaemonSet would. kubectl drain does not evict it either.
func hasReturned(pod *corev1.Pod, cordoned time.Time) bool {
	return !cordoned.IsZero() && pod.CreationTimestamp.After(cordoned) && slices.ContainsFunc(pod.Spec.Tolerations, toleratesCordon)
}

// toleratesCordon reports whether a toleration matches the taint that Kubernetes sets on a node that is cordoned.
func toleratesCordon(t corev1.Toleration) bool {
	if t.Effect != "" && t.Effect != corev1.TaintEffectNoSchedule {
		return false
	}
	exists := t.Operator == corev1.TolerationOpExists
	return exists && t.Key == "" || t.Key == corev1.TaintNodeUnschedulable && (exists || t.Value == "")
}
