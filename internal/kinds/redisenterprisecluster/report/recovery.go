// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Recovery sets the condition about clusterRecovery, a field of the vendor's API that requests a recovery. opcrew
// recovers clusters without such a request. The condition Available must be set before the call.
func Recovery(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decide.Decision) {
	const kind = redisv1alpha1.ConditionRecoveryRequested
	const asked = "clusterRecovery has no effect, because opcrew recovers clusters without it. "
	available := meta.FindStatusCondition(*set.Conditions, redisv1alpha1.ConditionAvailable)
	switch {
	case !c.Spec.ClusterRecovery:
		set.Remove(kind)
	case desired.Hibernates(c):
		set.True(kind, redisv1alpha1.ReasonNotNeeded, asked+"The cluster is hibernating, so no recovery is needed; you can set clusterRecovery to false")
	case available == nil:
		set.True(kind, redisv1alpha1.ReasonRecovering, asked+"opcrew has not read the state of the servers yet")
	case available.Status != metav1.ConditionTrue:
		set.True(kind, redisv1alpha1.ReasonRecovering, asked+available.Message+d.Because())
	default:
		set.True(kind, redisv1alpha1.ReasonNotNeeded, asked+"Every slot is served, and you can set clusterRecovery to false")
	}
}
