// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// Formed reports whether the status records that all slots have been served at least once. Since then, clients may have
// written data.
func Formed(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	available := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionAvailable)
	switch {
	case available == nil || available.Reason == common.ReasonPending || available.Reason == redisv1alpha1.ReasonCreating:
		return false
	case available.Reason == redisv1alpha1.ReasonHibernating:
		return c.Status.Shards > 0
	}
	return true
}

// Reported reports whether the status already has a report about the servers.
func Reported(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	available := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionAvailable)
	return available != nil && available.Reason != common.ReasonPending
}

// HasReason reports whether a condition in the status has one of the given reasons.
func HasReason(c *redisv1alpha1.RedisEnterpriseCluster, kind string, reasons ...string) bool {
	found := meta.FindStatusCondition(c.Status.Conditions, kind)
	for _, reason := range reasons {
		if found != nil && found.Reason == reason {
			return true
		}
	}
	return false
}
