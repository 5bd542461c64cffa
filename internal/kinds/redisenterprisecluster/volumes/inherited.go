// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// maxNodes is the maximum number of pods. The CRD has the same limit.
const maxNodes = 100

// inherited returns how many pods an earlier cluster of the same name had. It counts the claims that are older than
// this cluster.
func inherited(c *redisv1alpha1.RedisEnterpriseCluster, claims []corev1.PersistentVolumeClaim) int32 {
	most := 0
	for i := range claims {
		if pod, ok := strings.CutPrefix(claims[i].Name, desired.DataVolume+"-"); ok && isOlder(&claims[i], c.CreationTimestamp) {
			most = max(most, desired.Ordinal(c, pod)+1)
		}
	}
	return int32(min(most, maxNodes))
}

func isOlder(claim *corev1.PersistentVolumeClaim, created metav1.Time) bool {
	return claim.DeletionTimestamp == nil && claim.CreationTimestamp.Before(&created)
}
