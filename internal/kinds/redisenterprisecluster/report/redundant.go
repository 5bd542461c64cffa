// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportRedundant sets the condition Redundant: whether each shard has an in-sync replica on another pod and, if not,
// which shard is the first without such a replica.
func reportRedundant(set condition.Set, all observed.Servers) {
	const kind = redisv1alpha1.ConditionRedundant
	var copied int32
	var reason, first string
	for _, s := range all {
		if !s.Leads() {
			continue
		}
		lack, why := whyAlone(all, s)
		if lack == "" {
			copied++
		} else if reason == "" {
			reason, first = lack, why
		}
	}
	switch shards := all.Shards(); {
	case shards == 0:
		set.False(kind, redisv1alpha1.ReasonReplicaMissing, "No shards or replicas have been observed yet")
	case reason == "":
		set.True(kind, redisv1alpha1.ReasonAllShardsReplicated, fmt.Sprintf("%d of %d shards have a replica in sync on another pod", copied, shards))
	default:
		set.False(kind, reason, fmt.Sprintf("%d of %d shards have a replica in sync on another pod; %s", copied, shards, first))
	}
}

// whyAlone returns why the shard of a primary has no in-sync replica on another pod; "" if it has one.
func whyAlone(all observed.Servers, primary observed.Server) (reason, why string) {
	reason, why = redisv1alpha1.ReasonReplicaMissing, fmt.Sprintf("the shard of the %s has no replica", primary)
	for _, s := range all {
		switch {
		case !s.Answers || s.Role != redisv1alpha1.Replica || s.Shard != primary.Shard:
		case s.Pod == primary.Pod:
			reason, why = redisv1alpha1.ReasonTooFewNodes, fmt.Sprintf("the replica of the %s is on the same pod; set nodes to 3 or more", primary)
		case !s.InSync:
			reason, why = redisv1alpha1.ReasonReplicaBehind, fmt.Sprintf("the %s has not caught up with the %s yet", s, primary)
		default:
			return "", ""
		}
	}
	return reason, why
}
