// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// mostNodes is how many pods a cluster has at most, as the CRD has it.
const mostNodes = 100

// inherited is how many pods the claims reach that are older than a cluster.
func inherited(c *redisv1alpha1.RedisEnterpriseCluster, claims []corev1.PersistentVolumeClaim) int32 {
	most := 0
	for i := range claims {
		if pod, ok := strings.CutPrefix(claims[i].Name, dataVolume+"-"); ok && outlived(&claims[i], c.CreationTimestamp) {
			most = max(most, ordinal(c, pod)+1)
		}
	}
	return int32(min(most, mostNodes))
}

func outlived(claim *corev1.PersistentVolumeClaim, made metav1.Time) bool {
	return claim.DeletionTimestamp == nil && claim.CreationTimestamp.Before(&made)
}
