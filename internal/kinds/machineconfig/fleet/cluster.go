// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// Goal returns the configuration that the nodes of a pool get: its target, or after a failure the one before.
func Goal(p *mcfgv1.MachineConfigPool) string { return rollout.NewPool(p, Target(p)).Goal() }

// Cluster returns what the rules need to know.
func (f *Fleet) Cluster(now time.Time) rollout.Cluster {
	out := rollout.Cluster{Now: now, EtcdTrouble: f.EtcdTrouble, Kured: f.Kured}
	for _, p := range f.Pools {
		out.Pools = append(out.Pools, rollout.NewPool(p, Target(p)))
	}
	selectors := f.selectors()
	for _, n := range f.Nodes {
		node := f.node(n, selectors)
		if pool := f.Pool(node.Primary()); pool != nil {
			node.Health = health(n, node, pool, now)
		}
		out.Nodes = append(out.Nodes, node)
	}
	f.setCanaries(out.Nodes)
	return out
}
