// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportRecovery answers clusterRecovery, by which users of the vendor's operator order what is done here without it.
func reportRecovery(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	const kind = redisv1alpha1.ConditionRecoveryRequested
	const asked = "clusterRecovery is true, and has no effect: the operator recovers a cluster by itself. "
	available := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionAvailable)
	switch {
	case !c.Spec.ClusterRecovery:
		set.Remove(kind)
	case asleep(c):
		set.True(kind, redisv1alpha1.ReasonNotNeeded, asked+"The cluster hibernates; set clusterRecovery to false")
	case available == nil || available.Status != metav1.ConditionTrue:
		set.True(kind, redisv1alpha1.ReasonRecovering, asked+recovering(available, d))
	default:
		set.True(kind, redisv1alpha1.ReasonNotNeeded, asked+"Every slot is served; set clusterRecovery to false")
	}
}

// recovering says what there is to recover, and what that waits for.
func recovering(available *metav1.Condition, d decision) string {
	if available == nil {
		return "The servers have yet to be asked"
	}
	return available.Message + d.because()
}
