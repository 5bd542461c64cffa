// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"strconv"
	"strings"
	"time"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis/elections"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// ElectionAttempt is the longest time between a failover request and the start of the replica's election
// (CLUSTER_MF_TIMEOUT).
const ElectionAttempt = 5 * time.Second

// ElectionPause returns how long a replica must wait after an election before it can start another one.
func ElectionPause(c *redisv1alpha1.RedisEnterpriseCluster) time.Duration {
	const byDefault = 5000 // milliseconds: see internal/agents/redisserver
	timeout, err := strconv.Atoi(strings.TrimSpace(string(c.Spec.RedisConfig["cluster-node-timeout"])))
	if err != nil || timeout <= 0 {
		timeout = byDefault
	}
	return elections.Pause(time.Duration(timeout) * time.Millisecond)
}

// Ring returns the number of pods, the rate of slot moves and the election times that the spec requires. The caller
// fills in what is known about the pods.
func Ring(c *redisv1alpha1.RedisEnterpriseCluster) ring.Ring {
	rate := c.Spec.SlotMigrationRate.Quantity()
	return ring.Ring{
		Nodes: int(Nodes(c)), Rate: rate.Value(), Paused: common.IsSet(c.Annotations, common.PausedAnnotation), Elections: ElectionPause(c),
	}
}
