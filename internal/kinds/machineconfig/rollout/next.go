// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
)

// rules returns the rules in their order. The first rule with an opinion decides about a node.
func rules() []Rule {
	return []Rule{
		uncordon,  // ends an update
		shared,    // does not drain a node on which an Activity works
		alone,     // does not drain the only node of a cluster
		cordon,    // keeps new pods away from a node that is to be drained
		evict,     // empties a node
		quorum,    // does not let a control-plane node go down while etcd is not healthy
		confirm,   // lets the machine agent begin
		leftover,  // removes a cordon that an interrupted update left behind
		conflict,  // names two custom pools that select the same node
		none,      // leaves nodes alone that no pool configures
		unknown,   // waits for a configuration
		join,      // configures new nodes at once
		updated,   // leaves nodes alone that have the configuration
		working,   // does not disturb the machine agent
		failed,    // waits for another configuration, if this one failed
		paused,    // begins nothing in a paused pool
		activity,  // does not begin on a node on which an Activity works
		retarget,  // gives nodes that failed the new configuration first
		stopped,   // begins no further node after too many failures
		cordoned,  // does not begin on nodes that others cordoned
		notReady,  // does not begin on nodes that are not ready
		kured,     // does not begin on a node that kured reboots
		canary,    // updates canary nodes before all others
		one,       // updates control-plane nodes one at a time, while etcd is healthy
		budget,    // keeps enough nodes of each pool available
		orderGoal, // begins the update
	}
}

// Next decides which nodes take which steps now. Orders of one decision count in the budgets of those after them.
func Next(c Cluster) Decision {
	c.Nodes, c.tallies = copyNodes(&c), nil
	out, all := Decision{RollBacks: rollBacks(&c)}, rules()
	for _, n := range byUrgency(&c) {
		if n.Unseen {
			continue // it takes its next step when its last one is seen
		}
		verdict := first(&Input{Cluster: &c, Node: n, Pool: n.pool}, all)
		c.foresee(n, verdict)
		if !verdict.Rest {
			out.Nodes = append(out.Nodes, NodeVerdict{n.Name, n.primary(), verdict})
		}
	}
	return out
}

// foresee changes a node as a step will change it.
func (c *Cluster) foresee(n *Node, verdict Verdict) {
	switch verdict.Action {
	case Order:
		before := *n
		n.Desired, n.Phase = verdict.Config, Ordered
		c.recount(&before, n)
	case ConfirmDrain:
		n.Phase = Working
	}
}

func first(in *Input, all []Rule) Verdict {
	for _, rule := range all {
		if verdict := rule(in); verdict != (Verdict{}) {
			return verdict
		}
	}
	return rest()
}

// copyNodes copies the nodes, and finds their pools.
func copyNodes(c *Cluster) []*Node {
	out := make([]*Node, len(c.Nodes))
	for i, n := range c.Nodes {
		same := *n
		same.pool = c.pool(n.primary())
		out[i] = &same
	}
	return out
}

// byUrgency returns the nodes sorted: those that are changing or have failed, those that join, canary nodes, and then
// by zone and name, with the operator's own node last.
func byUrgency(c *Cluster) []*Node {
	out := slices.Clone(c.Nodes)
	for _, n := range out {
		n.urgency = c.urgency(n)
	}
	slices.SortFunc(out, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.urgency, b.urgency), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (c *Cluster) urgency(n *Node) int {
	switch {
	case n.Phase == Failed || n.Phase == Refused || c.missedGate(n):
		return 0
	case n.changing():
		return 1
	case n.Joining:
		return 2
	case n.HostsOperator:
		return 5
	case n.Canary:
		return 3
	}
	return 4
}
