// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportRedundant reports whether each shard has a replica in sync on another pod, and else which is the first that has not.
func reportRedundant(set condition.Set, all servers) {
	const kind = redisv1alpha1.ConditionRedundant
	var copied int32
	var reason, first string
	for _, s := range all {
		if !s.leads() {
			continue
		}
		lack, why := all.lacks(s)
		if lack == "" {
			copied++
		} else if reason == "" {
			reason, first = lack, why
		}
	}
	switch shards := all.shards(); {
	case shards == 0:
		set.False(kind, redisv1alpha1.ReasonReplicaMissing, "No shard is seen, and so no replica of one")
	case reason == "":
		set.True(kind, redisv1alpha1.ReasonAllShardsReplicated, fmt.Sprintf("%d of %d shards have a replica in sync on another pod", copied, shards))
	default:
		set.False(kind, reason, fmt.Sprintf("%d of %d shards have a replica in sync on another pod; %s", copied, shards, first))
	}
}

// lacks says what keeps the shard of a primary from having a copy; nothing if it has one.
func (all servers) lacks(primary server) (reason, why string) {
	reason, why = redisv1alpha1.ReasonReplicaMissing, fmt.Sprintf("that of %s has none", primary)
	for _, s := range all {
		switch {
		case !s.answers || s.role != redisv1alpha1.Replica || s.shard != primary.shard:
		case s.pod == primary.pod:
			reason, why = redisv1alpha1.ReasonTooFewNodes, fmt.Sprintf("that of %s is on the same pod; set nodes to 3 or more", primary)
		case !s.inSync:
			reason, why = redisv1alpha1.ReasonReplicaBehind, fmt.Sprintf("%s has not caught up with %s yet", s, primary)
		default:
			return "", ""
		}
	}
	return reason, why
}
