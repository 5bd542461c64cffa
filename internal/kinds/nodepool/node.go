// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// nodeReconciler reconciles Nodes. It is the only writer of what pools set on nodes and considers all NodePools
// together, so that pools cannot undo each other's changes.
type nodeReconciler struct {
	*kit.Tools
}

// nodeFacts holds all NodePools and RuntimeClasses of the cluster. There are few of them.
type nodeFacts struct {
	pools   []*nodesv1.NodePool
	classes nodestate.Classes
	// activities are the Activities of pipelines on the node.
	activities []*egov1.Activity
}

// nodeDecision is what the node should have, and what has just become of the pipelines on it.
type nodeDecision struct {
	nodestate.Desired
	pipelines pipeline.Marked
}

// Observe reads all NodePools and RuntimeClasses, and the Activities of pipelines on the node.
func (r *nodeReconciler) Observe(ctx context.Context, node *corev1.Node) (nodeFacts, error) {
	f := nodeFacts{classes: nodestate.Classes{}}
	var err error
	if f.pools, err = listPools(ctx, r.Client); err != nil {
		return f, err
	}
	classes := &nodev1.RuntimeClassList{}
	if err := r.Client.List(ctx, classes, client.UnsafeDisableDeepCopy); err != nil {
		return f, fmt.Errorf("list RuntimeClasses: %w", err)
	}
	for i := range classes.Items {
		f.classes[classes.Items[i].Name] = &classes.Items[i]
	}
	f.activities, err = activitiesOf(ctx, r.Tools, pipeline.NodeKey(node.Name))
	return f, err
}

// Decide returns what all NodePools together should set on the node.
func (r *nodeReconciler) Decide(node *corev1.Node, facts nodeFacts, now time.Time) nodeDecision {
	if node.DeletionTimestamp != nil {
		return nodeDecision{}
	}
	d := nodeDecision{pipelines: pipeline.Marks(node, facts.pools, facts.activities, now)}
	d.Desired = nodestate.Gate(node, nodestate.DesireMarked(node, facts.pools, d.pipelines.Marks), facts.pools, facts.classes)
	return d
}

// Report does nothing: opcrew does not write the status of nodes.
func (r *nodeReconciler) Report(*corev1.Node, nodeFacts, nodeDecision, kit.Outcome) {}

// Plan returns one patch that sets on a node what all NodePools together require. The taints of a fenced machine come
// first, in a patch of their own, because pods wait for them.
func (r *nodeReconciler) Plan(node *corev1.Node, f nodeFacts, d nodeDecision) kit.Plan {
	if node.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	pool := remediation.PoolOf(node, f.pools)
	if patch, events, needed := remediation.Patch(node, pool); needed && (pool == nil || !nodestate.Frozen(pool)) {
		return kit.Plan{Patches: []kit.Patch{patch}, Events: events}
	}
	plan := kit.Plan{Again: d.pipelines.Again}
	if patch, needed := nodestate.Patch(node, d.Desired); needed {
		plan.Patches = []kit.Patch{patch}
		plan.Events = membershipEvents(nodestate.LedgerOf(node), d)
	}
	return plan
}

// membershipEvents returns an event for each NodePool that the node joins or leaves, and for the begin and the end of
// its pipelines.
func membershipEvents(held nodestate.Ledger, d nodeDecision) []kit.Event {
	var events []kit.Event
	for _, pool := range d.Pools {
		if e, ok := memberEvent(pool, held, d); ok {
			events = append(events, e)
		}
	}
	for _, pool := range held.Pools {
		if !slices.Contains(d.Pools, pool) {
			events = append(events, kit.Event{
				Reason: "LeftNodePool", Action: "Leave",
				Note: fmt.Sprintf("The node is no longer a member of NodePool %s; opcrew removed the labels, taints and annotations that the pool had set", pool) + ended(d, pool),
			})
		}
	}
	return events
}

// memberEvent returns an event if the node begins to join or to leave a NodePool, or has joined it.
func memberEvent(pool string, held nodestate.Ledger, d nodeDecision) (kit.Event, bool) {
	before, now := held.Marks[pool], d.Marks[pool]
	switch {
	case now.Phase == nodestate.Joining && before != now:
		return kit.Event{Reason: "JoiningNodePool", Action: "Join", Note: fmt.Sprintf(
			"The node joins NodePool %s. Until spec.onJoin of the pool has run, the node carries the taint %s:NoSchedule", pool, nodesv1.JoiningTaint)}, true
	case now.Phase == nodestate.Leaving && before != now:
		return kit.Event{Reason: "LeavingNodePool", Action: "Leave", Note: fmt.Sprintf(
			"The node leaves NodePool %s, and keeps its labels, taints and annotations until spec.onLeave of the pool has run", pool)}, true
	case now.Phase != nodestate.Leaving && now.Phase != nodestate.Joining && (!slices.Contains(held.Pools, pool) || before.Phase == nodestate.Joining):
		return kit.Event{
			Reason: "JoinedNodePool", Action: "Join",
			Note: fmt.Sprintf("The node is now a member of NodePool %s and has the labels, taints and annotations of the pool", pool) + ended(d, pool),
		}, true
	}
	return kit.Event{}, false
}

// ended describes the end of the pipeline of a NodePool, if it has just ended.
func ended(d nodeDecision, pool string) string {
	if how := d.pipelines.Ended[pool]; how != "" {
		return "; pipeline: " + condition.Cut(how, nodestate.MaxValue)
	}
	return ""
}
