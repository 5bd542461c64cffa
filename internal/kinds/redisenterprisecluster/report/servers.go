// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Report sets everything in the status that depends on the servers. Until the servers are read, it keeps the previous
// report.
func (in Ring) Report(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	s := &c.Status
	switch {
	case !in.Seen && observed.Reported(c):
		return
	case in.forms(c):
		text := "The servers are forming a cluster" + in.Decision.Because()
		set.False(redisv1alpha1.ConditionAvailable, redisv1alpha1.ReasonCreating, text)
		set.False(redisv1alpha1.ConditionRedundant, redisv1alpha1.ReasonCreating, text)
		return
	}
	s.Slots = in.Servers.SlotMap()
	// A hibernating cluster has no servers, but its shard count still shows that it has data.
	if n := in.Servers.Shards(); n > 0 || !observed.Formed(c) {
		s.Shards = n
	}
	if version := lowestVersion(in.Servers); version != "" {
		s.Version = version
	}
	in.reportAvailable(set, c)
	reportRedundant(set, in.Servers)
	in.reportRisk(set, c)
	in.reportMemory(set, c)
	in.reportLogs(set, c)
	in.reportMove(set, c)
}

// forms reports whether the servers have yet to form a cluster for the first time. It returns false for servers that
// lost their data, because they formed a cluster before, perhaps for an earlier object of the same name.
func (in Ring) forms(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	if observed.Formed(c) || in.Seen && in.unserved().Len()+in.refusing().Len() == 0 {
		return false
	}
	_, refused := in.Decision.Refusal(ring.Lost, ring.Unowned)
	missing := ring.Missing(in.View, in.Decision.Ring)
	return !refused || missing.Waits != "" || len(missing.Slots) == 0
}
