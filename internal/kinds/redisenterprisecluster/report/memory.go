// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

const (
	evictionSetting = "maxmemory-policy"
	noEviction      = "noeviction" // the default policy of Redis, which refuses writes when the memory is full
)

// reportMemory reports a primary that refuses writes because its memory is full and it may not evict keys. The
// condition stays until some memory is free again, so that it does not change with every write.
func (in Ring) reportMemory(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	const kind = redisv1alpha1.ConditionMemoryFull
	if in.View.Err != nil || in.View.Stale {
		return
	}
	atLeast := redis.Full
	if meta.IsStatusConditionTrue(*set.Conditions, kind) {
		atLeast = redis.NearlyFull
	}
	evicts := cmp.Or(string(c.Spec.RedisConfig[evictionSetting]), noEviction) != noEviction
	for _, s := range in.Servers {
		status := in.View.Nodes[s.Address]
		if s.Leads() && status.Fill() >= atLeast && !evicts {
			set.True(kind, redisv1alpha1.ReasonWritesRefused, fmt.Sprintf(
				"The memory of the %s is full (%s), and the server refuses writes; increase the memory in redisEnterpriseNodeResources, increase nodes, delete keys, or allow eviction with redisConfig: {%s: allkeys-lru}",
				s, resource.NewQuantity(status.MaxMemory, resource.BinarySI), evictionSetting))
			return
		}
	}
	set.Remove(kind)
}

// reportLogs reports a server that cannot write its append-only file. A primary then refuses writes (MISCONF), and a
// replica has its copy of the data only in memory.
func (in Ring) reportLogs(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	const kind = redisv1alpha1.ConditionStorageFailing
	if in.View.Err != nil || in.View.Stale {
		return
	}
	for _, s := range in.Servers {
		if !s.Answers || !in.View.Nodes[s.Address].LogFails {
			continue
		}
		effect := "its copy of the data is only in memory"
		if s.Leads() {
			effect = "it refuses writes"
		}
		set.True(kind, redisv1alpha1.ReasonLogNotWritten, fmt.Sprintf("The %s cannot write its append-only file, and %s; "+
			"its disk is full or failing: read the log of container %s, and %s", s, effect, s.Place, moreRoom(c)))
		return
	}
	set.Remove(kind)
}

// moreRoom returns a clause that says how the user can get more disk space.
func moreRoom(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if desired.Persistent(c) {
		return "enlarge the volume with persistentSpec.volumeSize and enablePersistentVolumeResize: true"
	}
	return "free space on the disk of its node"
}
