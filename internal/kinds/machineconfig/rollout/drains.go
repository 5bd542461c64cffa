// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"

// uncordon ends an update. A cordon of a user or another tool stays.
func uncordon(in *Input) Verdict {
	switch {
	case in.Node.Phase != WantsUncordon:
		return Verdict{}
	case in.Node.Cordon == Ours:
		return step(Uncordon)
	}
	return step(ConfirmUncordon)
}

// alone confirms a drain at once if the cluster has only one node, because its pods could not run elsewhere.
func alone(in *Input) Verdict {
	if isDraining(in) && len(in.Nodes) == 1 {
		return step(ConfirmDrain)
	}
	return Verdict{}
}

// shared does not cordon a node on which an Activity began just when the node got its order. A drain would end its command.
func shared(in *Input) Verdict {
	if isDraining(in) && in.Node.Cordon != Ours {
		return activity(in)
	}
	return Verdict{}
}

// cordon makes a node unschedulable before its pods are evicted, and again if another user uncordoned it meanwhile.
func cordon(in *Input) Verdict {
	if isDraining(in) && in.Node.Cordon == NotCordoned {
		return step(CordonNode)
	}
	return Verdict{}
}

// evict evicts the pods of a node. If pods block, package drain explains it.
func evict(in *Input) Verdict {
	if isDraining(in) && !in.Node.Drained {
		return step(Evict)
	}
	return Verdict{}
}

// quorum stops a control-plane node before its disruption begins, if etcd has become unhealthy since the order, or
// while another control-plane node changes.
func quorum(in *Input) Verdict {
	if !isDraining(in) || !in.Node.ControlPlane {
		return Verdict{}
	}
	if in.EtcdTrouble != "" {
		return wait(mcfgv1.ReasonEtcdUnhealthy, "it is drained, and etcd is not healthy (%s): it continues when etcd is healthy", in.EtcdTrouble)
	}
	for _, n := range in.Nodes {
		if n != in.Node && n.ControlPlane && (n.Phase == Working || n.Unseen) {
			return wait(mcfgv1.ReasonBudgetUsed, "it is drained, and the control-plane node %s is being updated: it continues afterwards", n.Name)
		}
	}
	return Verdict{}
}

// confirm lets the machine agent begin, after the drain.
func confirm(in *Input) Verdict {
	if isDraining(in) && in.Node.Drained {
		return step(ConfirmDrain)
	}
	return Verdict{}
}

// leftover uncordons a node that opcrew cordoned and that has no order, which may happen after a crash.
func leftover(in *Input) Verdict {
	if in.Node.Phase == Idle && in.Node.Cordon == Ours {
		return step(Uncordon)
	}
	return Verdict{}
}

// isDraining reports whether the node is to be drained. A node whose order is outdated is not drained further, because
// it gets a new order.
func isDraining(in *Input) bool { return in.Node.Phase == WantsDrain && !in.outdated(in.Node) }

// outdated reports whether the pool of a node has another configuration by now. In a paused pool, a node completes the
// order that it has.
func (c *Cluster) outdated(n *Node) bool {
	in := &Input{Cluster: c, Node: n, Pool: n.pool}
	return in.Pool != nil && !in.Pool.Paused && in.goal() != "" && n.Desired != in.goal()
}
