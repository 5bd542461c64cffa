// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// canary updates canary nodes before all others. The others begin when all canary nodes have been healthy for long
// enough.
func canary(in *Input) Verdict {
	if !in.Pool.Rollout.Canary || in.Node.Canary {
		return Verdict{}
	}
	nodes := in.tally(in.Pool)
	switch {
	case len(nodes.canaries) == 0:
		return wait(mcfgv1.ReasonNoCanary, "no node of pool %s matches spec.rollout.canary.nodeSelector: label a node, or change the selector", in.Pool.Name)
	case len(nodes.behind) > 0:
		return wait(mcfgv1.ReasonSoaking, "the canary %s is updated first, and must be healthy for %s", list(nodes.behind), in.Pool.Rollout.CanarySoak)
	}
	return Verdict{}
}

// one updates control-plane nodes one at a time over all pools, and only while etcd is healthy.
func one(in *Input) Verdict {
	if !in.Node.ControlPlane {
		return Verdict{}
	}
	if in.EtcdTrouble != "" {
		return wait(mcfgv1.ReasonEtcdUnhealthy, "etcd is not healthy (%s): control-plane nodes wait until it is", in.EtcdTrouble)
	}
	for _, n := range in.Nodes {
		if why := in.down(n); n != in.Node && n.ControlPlane && why != "" {
			return wait(mcfgv1.ReasonBudgetUsed, "control-plane nodes are updated one at a time, and %s is %s", n.Name, why)
		}
	}
	return Verdict{}
}

// down returns why a control-plane node is unavailable; empty if it is available. A joining node counts as soon as it
// is being configured, because it may already be a member of etcd.
func (c *Cluster) down(n *Node) string {
	if n.Joining && !n.changing() && !n.Unseen {
		return ""
	}
	return c.occupied(n)
}

// budget keeps enough nodes of each pool available. A node counts in all pools that select it.
func budget(in *Input) Verdict {
	for _, name := range in.Node.Pools {
		p := in.pool(name)
		if p == nil {
			continue
		}
		nodes := in.tally(p)
		if most := p.budget(nodes.members); nodes.unavailable >= most {
			return wait(mcfgv1.ReasonBudgetUsed, "pool %s allows %d of %d nodes to be unavailable, and %s: it follows when one of them is available", name, most,
				nodes.members, list(nodes.examples))
		}
	}
	return Verdict{}
}

// orderGoal begins the update of a node.
func orderGoal(in *Input) Verdict { return order(in.goal()) }
