// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Children sets the condition ChildrenReady. If a Secret of another owner has the name of the users' Secret, the user
// may have created it to choose the password. The message then explains how to make opcrew use that Secret.
func Children(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, done kit.Outcome) {
	const kind = redisv1alpha1.ConditionChildrenReady
	done.ReportChildren(set, kind)
	found := meta.FindStatusCondition(*set.Conditions, kind)
	if found == nil || found.Reason != common.ReasonNameTaken {
		return
	}
	if taken, _ := done.First(ensure.Taken); taken.Ref.Kind == "Secret" && taken.Ref.Name == c.Name {
		set.False(kind, found.Reason, fmt.Sprintf("%s; to let users log in with this Secret, set clusterCredentialSecretName: %s", found.Message, c.Name))
	}
}

// Ready sets the condition Ready from the other conditions.
func Ready(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	pods := meta.FindStatusCondition(*set.Conditions, redisv1alpha1.ConditionPodsReady)
	set.SumUp(blockers(c), redisv1alpha1.ReasonAllPodsReady, pods.Message+" and every slot is served")
}

// blockers returns the conditions that must be True before the cluster is Ready, the most important first. A cluster of
// one pod is exempt from redundancy, because its spec leaves no place for a replica.
func blockers(c *redisv1alpha1.RedisEnterpriseCluster) []condition.Blocker {
	out := []condition.Blocker{
		condition.Unless(redisv1alpha1.ConditionChildrenReady),
		condition.WhenTrue(redisv1alpha1.ConditionDataAtRisk),
	}
	if podsBlock(c) {
		out = append(out, condition.Unless(redisv1alpha1.ConditionPodsReady))
	}
	out = append(out,
		condition.Unless(redisv1alpha1.ConditionAvailable),
		condition.Unless(redisv1alpha1.ConditionPodsReady),
		condition.Unless(redisv1alpha1.ConditionUpToDate),
		condition.WhenTrue(redisv1alpha1.ConditionMemoryFull),
		condition.WhenTrue(redisv1alpha1.ConditionStorageFailing))
	if desired.Nodes(c) > 1 {
		out = append(out, condition.Unless(redisv1alpha1.ConditionRedundant))
	}
	return append(out, condition.WhenTrue(common.ConditionProtectionMissing))
}

// podsBlock reports whether a problem with pods, such as an image that cannot be pulled, keeps the cluster from
// forming.
func podsBlock(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return !observed.Formed(c) && observed.HasReason(c, redisv1alpha1.ConditionPodsReady, common.ReasonPodsNotReady, common.ReasonPodsMissing)
}
