// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

const (
	evictionSetting = "maxmemory-policy"
	noEviction      = "noeviction" // the servers' own default
)

// reportMemory reports primaries that refuse writes, as their memory is full and they may evict no key. It is told
// until there is clearly room again: how much is used goes up and down with every client.
func (f facts) reportMemory(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	const kind = redisv1alpha1.ConditionMemoryFull
	if f.view.Err != nil || f.view.Stale {
		return
	}
	atLeast := redis.Full
	if meta.IsStatusConditionTrue(*set.Conditions, kind) {
		atLeast = redis.NearlyFull
	}
	for _, s := range d.servers {
		status := f.view.Nodes[s.address]
		if s.leads() && status.Fill() >= atLeast && cmp.Or(string(c.Spec.RedisConfig[evictionSetting]), noEviction) == noEviction {
			set.True(kind, redisv1alpha1.ReasonWritesRefused, fmt.Sprintf(
				"The memory of the %s is full (%s), and it refuses writes; set more memory in redisEnterpriseNodeResources, or more nodes, delete keys, or let keys be evicted by redisConfig: {%s: allkeys-lru}",
				s, resource.NewQuantity(status.MaxMemory, resource.BinarySI), evictionSetting))
			return
		}
	}
	set.Remove(kind)
}

// reportLogs reports servers that cannot write down what they are told. Primaries refuse writes then (MISCONF), and
// replicas go on with a copy that is in memory alone.
func (f facts) reportLogs(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	const kind = redisv1alpha1.ConditionStorageFailing
	if f.view.Err != nil || f.view.Stale {
		return
	}
	for _, s := range d.servers {
		if !s.answers || !f.view.Nodes[s.address].LogFails {
			continue
		}
		does := "what it copies is in memory alone"
		if s.leads() {
			does = "it refuses writes"
		}
		set.True(kind, redisv1alpha1.ReasonLogNotWritten, fmt.Sprintf("The %s cannot write its log, and %s; "+
			"its disk is full or fails: see the log of container %s, and %s", s, does, s.place, moreRoom(c)))
		return
	}
	set.Remove(kind)
}

// moreRoom is what to do about a full disk.
func moreRoom(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if persistent(c) {
		return "have a larger volume by persistentSpec.volumeSize and enablePersistentVolumeResize: true"
	}
	return "make room on the disk of its node"
}
