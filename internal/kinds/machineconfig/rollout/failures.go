// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// RollBack is a pool whose update is stopped and reverted.
type RollBack struct {
	Pool, From, To string
	// Nodes are the nodes that failed.
	Nodes []string
}

// rollBacks returns the pools that must return to the configuration that their nodes last had together.
func rollBacks(c *Cluster) []RollBack {
	var out []RollBack
	for _, p := range c.Pools {
		failures := c.tally(p).failures
		if !p.Rollout.RollBack || p.Paused || len(failures) < p.Rollout.MaxFailures {
			continue
		}
		if p.Last != "" && p.goal() != p.Last {
			out = append(out, RollBack{p.Name, p.goal(), p.Last, failures})
		}
	}
	return out
}

// failing reports whether a node failed with the present goal of its pool.
func (c *Cluster) failing(n *Node, p *Pool) bool {
	switch n.Phase {
	case Failed, Refused:
		return n.Desired == p.goal()
	case Idle:
		return n.Current == p.goal() && c.missedGate(n)
	}
	return false
}

// missedGate reports whether a node did not become healthy in time after its last update. A node that becomes unhealthy
// later has not failed the update.
func (c *Cluster) missedGate(n *Node) bool {
	p := n.pool
	if p == nil || n.Phase != Idle || n.Joining || n.Health.Met || n.Health.Applied.IsZero() {
		return false
	}
	deadline := n.Health.Applied.Add(p.Rollout.Timeout)
	return !c.Now.Before(deadline) && n.Health.Since.Before(deadline)
}

// failed waits for another configuration on a node that failed.
func failed(in *Input) Verdict {
	switch {
	case in.Node.Desired != in.goal():
	case in.Node.Phase == Failed:
		return wait(mcfgv1.ReasonNodeFailed, "its machine agent could not apply %s: correct the MachineConfigs of pool %s, and this node gets the result first",
			in.goal(), in.Pool.Name)
	case in.Node.Phase == Refused:
		return wait(mcfgv1.ReasonNodeUnreconcilable, "its host cannot have %s, and nothing was changed: correct the MachineConfigs of pool %s", in.goal(), in.Pool.Name)
	}
	return Verdict{}
}

// retarget gives another configuration to a node that failed with an earlier one, or that has not begun to change. It
// needs no room in a budget, because the node already counts as unavailable.
func retarget(in *Input) Verdict {
	if !in.Node.changing() && !in.abandoned(in.Node) {
		return Verdict{}
	}
	if other := in.otherControlPlane(); other != nil {
		return wait(mcfgv1.ReasonBudgetUsed, "control-plane nodes are updated one at a time, and %s is being updated", other.Name)
	}
	if in.Node.ControlPlane && in.EtcdTrouble != "" && !in.Node.changing() {
		return wait(mcfgv1.ReasonEtcdUnhealthy, "etcd is not healthy (%s): control-plane nodes wait until it is", in.EtcdTrouble)
	}
	return order(in.goal())
}

// abandoned reports whether a node has completed an update, did not become healthy, and is not in the hands of others.
func (c *Cluster) abandoned(n *Node) bool {
	return c.missedGate(n) && n.Cordon != Foreign && !c.isLocked(n)
}

// otherControlPlane returns another control-plane node that is being updated, if the node is a control-plane node; nil
// if there is none. Several nodes may have failed, but they are updated one after the other.
func (in *Input) otherControlPlane() *Node {
	if !in.Node.ControlPlane {
		return nil
	}
	for _, n := range in.Nodes {
		if n != in.Node && n.ControlPlane && in.goesBefore(n) {
			return n
		}
	}
	return nil
}

// goesBefore reports whether another control-plane node may change before the node has completed a new order. A node
// that waits for a drain with an outdated order does not change. Of several nodes whose agents have not begun outdated
// orders, the first by name gets a new one.
func (in *Input) goesBefore(n *Node) bool {
	switch {
	case n.Phase == Working || n.Unseen:
		return true
	case n.Phase == WantsDrain:
		return !in.outdated(n)
	case n.Phase == Ordered:
		return !in.outdated(n) || in.Node.Phase != Ordered || n.Name < in.Node.Name
	}
	return false
}

// stopped begins no further node after too many failures.
func stopped(in *Input) Verdict {
	failures := in.tally(in.Pool).failures
	if len(failures) < in.Pool.Rollout.MaxFailures {
		return Verdict{}
	}
	return wait(mcfgv1.ReasonTooManyFailures, "%s failed with %s, so opcrew begins no further node of pool %s: correct the MachineConfigs, or raise spec.rollout.maxFailures",
		list(failures), in.goal(), in.Pool.Name)
}
