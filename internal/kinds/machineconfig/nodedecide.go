// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Decide asks the rules of package rollout about the whole fleet, and takes the step of this node.
func (r *nodeReconciler) Decide(node *corev1.Node, f nodeFacts, now time.Time) nodeDecision {
	if node.DeletionTimestamp != nil {
		return nodeDecision{}
	}
	plan := drainPlan(f, now)
	if plan != nil {
		f.fleet.Drained[node.Name] = plan.Done()
	}
	cluster := f.fleet.Cluster(now)
	at := slices.IndexFunc(cluster.Nodes, func(n *rollout.Node) bool { return n.Name == node.Name })
	if at < 0 {
		return nodeDecision{}
	}
	s := &stepper{node: node, facts: &f, is: cluster.Nodes[at], now: now, out: nodeDecision{drain: plan}}
	s.pool = f.fleet.Pool(s.is.Primary())
	s.step(verdictOf(rollout.Next(cluster), node.Name))
	s.tidy()
	return s.out
}

// drainPlan returns what to do to drain the node; nil if it is not to be drained.
func drainPlan(f nodeFacts, now time.Time) *drain.Plan {
	if f.drain == nil {
		return nil
	}
	in := *f.drain
	in.Now = now
	plan := drain.Next(in)
	return &plan
}

// verdictOf returns the verdict about a node; the zero Verdict if it needs no step.
func verdictOf(d rollout.Decision, node string) rollout.Verdict {
	for _, v := range d.Nodes {
		if v.Node == node {
			return v.Verdict
		}
	}
	return rollout.Verdict{}
}

// step takes the step of the node.
func (s *stepper) step(v rollout.Verdict) {
	s.action = v.Action
	asked := s.node.Annotations[machineorder.DesiredDrain]
	switch v.Action {
	case rollout.Order:
		s.order(v.Config, v.Skip)
	case rollout.CordonNode:
		s.out.edit.Cordon(s.now)
		s.event("Cordoned", "Cordon", "The node is cordoned and drained, because the change to %s requires it", s.is.Desired)
	case rollout.Evict:
		s.out.evicts, s.out.again = true, drainPoll
	case rollout.ConfirmDrain:
		s.out.edit.Annotate(machineorder.LastAppliedDrain, asked)
	case rollout.Uncordon:
		s.out.edit.Uncordon()
		s.out.edit.Annotate(machineorder.LastAppliedDrain, asked)
		s.event("Uncordoned", "Uncordon", "The node has %s and is schedulable again", s.is.Current)
	case rollout.ConfirmUncordon:
		s.out.edit.Annotate(machineorder.LastAppliedDrain, asked)
	default:
		s.renew()
		if s.is.Phase == rollout.WantsDrain { // the end of what the drain waits for may cause no event of this node
			s.out.again = silenceWait
		}
	}
}
