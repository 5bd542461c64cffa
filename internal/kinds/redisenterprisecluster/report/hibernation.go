// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// Hibernation sets the conditions of a cluster whose pods are stopped, or are being stopped, because it hibernates.
func Hibernation(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, members workload.Members) {
	const message = "spec.hibernate is set: the pods were removed, and their volume claims are kept"
	set.False(redisv1alpha1.ConditionAvailable, redisv1alpha1.ReasonHibernating, message)
	set.False(redisv1alpha1.ConditionRedundant, redisv1alpha1.ReasonHibernating, message)
	for _, kind := range []string{
		redisv1alpha1.ConditionMigrating, redisv1alpha1.ConditionDataAtRisk, redisv1alpha1.ConditionMemoryFull,
		redisv1alpha1.ConditionStorageFailing, common.ConditionPlacement,
	} {
		set.Remove(kind)
	}
	c.Status.Move = nil
	c.Status.State = State(Situation{Created: members.Set != nil, Hibernates: true})
	if members.ScalingDown(set.Now) || members.Replicas() > 0 {
		stopping := fmt.Sprintf("The cluster is about to hibernate: %d pods are stopping", len(members.Pods))
		set.False(redisv1alpha1.ConditionPodsReady, common.ReasonUpdating, stopping)
		set.False(redisv1alpha1.ConditionReady, common.ReasonUpdating, stopping)
		return
	}
	set.True(redisv1alpha1.ConditionPodsReady, redisv1alpha1.ReasonHibernating, message)
	set.SumUp(blockers(c)[:1], redisv1alpha1.ReasonHibernating, message)
}
