// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// createdTogether is the largest difference in age between a pod and a claim that was created with it.
const createdTogether = 10 * time.Second

// mayHoldData reports whether a claim's volume may have data. A volume provisioned for a claim that was created with
// its pod is empty if the pod has had no node since: the claim comes just before the pod, or while it waits, and some
// classes provision before the pod has a node.
func mayHoldData(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	if claim == nil || claim.Spec.VolumeName == "" || claim.Status.Phase == corev1.ClaimLost {
		return false
	}
	before := pod == nil || pod.Spec.NodeName != "" || claim.CreationTimestamp.Add(createdTogether).Before(pod.CreationTimestamp.Time)
	return before || !createdEmpty(claim)
}

// createdEmpty reports whether a claim's volume was provisioned empty for it. Provisioners name volumes after the
// claim's UID (external-provisioner, --volume-name-prefix). A claim that was restored, written by hand or bound to an
// existing volume has a volume with another name.
func createdEmpty(claim *corev1.PersistentVolumeClaim) bool {
	return claim.UID != "" && strings.HasSuffix(claim.Spec.VolumeName, string(claim.UID)) &&
		claim.Spec.DataSource == nil && claim.Spec.DataSourceRef == nil
}
