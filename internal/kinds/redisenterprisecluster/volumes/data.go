// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// createdTogether is the largest age difference between a pod and a volume claim that was created with it.
const createdTogether = 10 * time.Second

// mayHoldData reports whether a claim's volume may contain data. The volume contains no data if it was provisioned for
// a claim that was created together with its pod, and the pod has had no node since.
func mayHoldData(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	if claim == nil || claim.Spec.VolumeName == "" || claim.Status.Phase == corev1.ClaimLost {
		return false
	}
	before := pod == nil || pod.Spec.NodeName != "" || claim.CreationTimestamp.Add(createdTogether).Before(pod.CreationTimestamp.Time)
	return before || !createdEmpty(claim)
}

// createdEmpty reports whether a claim's volume was provisioned empty for this claim. Provisioners then name the volume
// after the claim's UID (external-provisioner, --volume-name-prefix). Restored or existing volumes have other names.
func createdEmpty(claim *corev1.PersistentVolumeClaim) bool {
	return claim.UID != "" && strings.HasSuffix(claim.Spec.VolumeName, string(claim.UID)) &&
		claim.Spec.DataSource == nil && claim.Spec.DataSourceRef == nil
}
