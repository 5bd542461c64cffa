// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"maps"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// idle is the memory of a simulated server without keys, in bytes.
const idle = 2 << 20

// status returns what INFO and CLUSTER NODES would report.
func (n *node) status() redis.NodeStatus {
	jobs := ends(n)
	out := redis.NodeStatus{
		Jobs: jobs, ID: n.id, RunID: n.run, Version: n.Version, Role: redis.Primary, Offset: n.offset,
		Slots: n.slots.ranges(), ConfigEpoch: n.epoch, CurrentEpoch: n.current, ClusterOK: n.ok(),
		Migrating: maps.Clone(n.migrating), Importing: maps.Clone(n.importing),
		Keys: int64(len(n.data)), Dataset: n.bytes(), MaxMemory: n.MaxMemory,
	}
	out.UsedMemory = out.Dataset + idle
	out.NotAdmitted, out.Redirects = n.barred, n.redirects
	if n.primary != "" {
		out.Source = n.source
		out.Role, out.PrimaryID, out.LinkUp, out.Unlinked = redis.Replica, n.primary, n.synced, !n.linked
	}
	out.Known = []redis.Peer{{
		ID: n.id, Address: n.Address, Role: out.Role, PrimaryID: n.primary, Myself: true, Connected: true, ConfigEpoch: n.epoch, Slots: out.Slots,
	}}
	for _, p := range n.known() {
		out.Known = append(out.Known, n.line(p))
	}
	return out
}

// line returns the entry of a known server in the node table.
func (n *node) line(p *peer) redis.Peer {
	out := redis.Peer{
		ID: p.id, Address: p.address, Role: redis.Primary, PrimaryID: p.primary,
		Connected: n.reach(p) != nil, ConfigEpoch: p.epoch, Slots: p.slots.ranges(),
	}
	if p.primary != "" {
		out.Role = redis.Replica
	}
	out.Failing = n.failing(p.id) && !n.ok()
	out.Failed = n.failing(p.id) && n.ok()
	return out
}
