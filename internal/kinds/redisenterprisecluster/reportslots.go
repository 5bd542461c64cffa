// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// busOffset is how much higher than its port the bus port of a server is (cluster.h, CLUSTER_PORT_INCR).
const busOffset = 10000

// reportAvailable reports whether each slot has a primary that serves it; unserved are those that have none that answers,
// and refused those of primaries that answer no client.
func reportAvailable(set condition.Set, all servers, unserved, refused ranges) {
	const kind = redisv1alpha1.ConditionAvailable
	served, primaries := redisv1alpha1.Slots-unserved.Len()-refused.Len(), 0
	for _, s := range all {
		if s.leads() && s.down == "" {
			primaries++
		}
	}
	text := fmt.Sprintf("%d of %d slots are served by %d primaries", served, redisv1alpha1.Slots, primaries)
	if served == redisv1alpha1.Slots {
		set.True(kind, redisv1alpha1.ReasonAllSlotsServed, text)
		return
	}
	if unserved.Len() > 0 {
		text += fmt.Sprintf("; %s have no primary that answers%s", unserved, all.silent())
	}
	if refused.Len() > 0 {
		text += fmt.Sprintf("; %s are refused to clients: %s", refused, all.downs())
	}
	set.False(kind, redisv1alpha1.ReasonSlotsUnserved, text)
}

// downs reports the first primary that holds the cluster to be down.
func (all servers) downs() string {
	for _, s := range all {
		if s.leads() && s.down != "" {
			return fmt.Sprintf("%s holds the cluster to be down, %s", s, s.down)
		}
	}
	return ""
}

// whyDown is why a server holds the cluster to be down; "" where it does not. One that hears of enough others has just
// been started, or has just found them again.
func whyDown(status redis.NodeStatus) string {
	switch of, all := status.Hears(); {
	case status.ClusterOK:
		return ""
	case of > all/2:
		return "and takes it for up again in a moment"
	default:
		return fmt.Sprintf("as it hears of %d of %d primaries; look at the ports of the bus (%d and %d: NetworkPolicy?)",
			of, all, redisv1alpha1.HomePort+busOffset, redisv1alpha1.GuestPort+busOffset)
	}
}
