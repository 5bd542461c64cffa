// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// createdTogether is how much older than its pod a claim is at most that was created with it.
const createdTogether = 10 * time.Second

// mayHoldData reports whether a claim has a volume that may have been written to and is not lost. A volume that was provisioned
// for a claim created with a pod that has had no node since is empty: the StatefulSet's controller creates claims just before
// their pod, and again while the pod waits, and some classes provision before the pod has a node.
func mayHoldData(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	if claim == nil || claim.Spec.VolumeName == "" || claim.Status.Phase == corev1.ClaimLost {
		return false
	}
	before := pod == nil || pod.Spec.NodeName != "" || claim.CreationTimestamp.Add(createdTogether).Before(pod.CreationTimestamp.Time)
	return before || !createdEmpty(claim)
}

// createdEmpty reports whether the volume of a claim was provisioned for it, with nothing in it: provisioners name volumes after
// the claim's UID (external-provisioner, --volume-name-prefix). A claim that was restored or written by hand has another
// volume, whatever its annotations are, and so has a claim that was bound to an existing volume.
func createdEmpty(claim *corev1.PersistentVolumeClaim) bool {
	return claim.UID != "" && strings.HasSuffix(claim.Spec.VolumeName, string(claim.UID)) &&
		claim.Spec.DataSource == nil && claim.Spec.DataSourceRef == nil
}
