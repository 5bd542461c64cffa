// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/workload"
)

// StorageField is the field of the spec with the size of volumes.
const StorageField = "spec.pod.persistentVolumeClaimSpec.resources.requests.storage"

// Size returns the desired size of each volume.
func Size(c *etcdv1beta2.EtcdCluster) resource.Quantity {
	return c.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage]
}

// Problem explains which volumes do not have the spec's size; empty if all volumes have it. Members work with smaller
// volumes too, so Ready stays True and only shows the message.
func Problem(volumes workload.Volumes) (reason, message string) {
	growing, have := volumes.Growing()
	switch stuck, larger := volumes.Stuck(), volumes.Larger(); {
	case stuck != "":
		return etcdv1beta2.ReasonVolumesFixed, fmt.Sprintf("%s; alternatively, set %s to the current size of the volumes, or choose a StorageClass that lets them grow", stuck, StorageField)
	case larger != nil:
		asks := workload.Requested(larger)
		return etcdv1beta2.ReasonVolumesFixed, fmt.Sprintf("claim %s requests %s instead of %s, and volumes cannot shrink: set %s to %s, or move the data to a new cluster",
			larger.Name, asks.String(), volumes.Wanted.String(), StorageField, asks.String())
	case growing != "":
		return etcdv1beta2.ReasonVolumesGrowing, fmt.Sprintf("%d of %d volumes have the desired size; %s", have, len(volumes.Bound()), growing)
	}
	return "", ""
}
