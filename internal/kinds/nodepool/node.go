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

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit"
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
}

// Observe reads all NodePools and RuntimeClasses.
func (r *nodeReconciler) Observe(ctx context.Context, _ *corev1.Node) (nodeFacts, error) {
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
	return f, nil
}

// Decide returns what all NodePools together should set on the node.
func (r *nodeReconciler) Decide(node *corev1.Node, facts nodeFacts, _ time.Time) nodestate.Desired {
	if node.DeletionTimestamp != nil {
		return nodestate.Desired{}
	}
	return nodestate.Gate(node, nodestate.Desire(node, facts.pools), facts.pools, facts.classes)
}

// Report does nothing: opcrew does not write the status of nodes.
func (r *nodeReconciler) Report(*corev1.Node, nodeFacts, nodestate.Desired, kit.Outcome) {}

// Plan returns one patch that sets on a node what all NodePools together require.
func (r *nodeReconciler) Plan(node *corev1.Node, _ nodeFacts, d nodestate.Desired) kit.Plan {
	if node.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	patch, needed := nodestate.Patch(node, d)
	if !needed {
		return kit.Plan{}
	}
	return kit.Plan{Patches: []kit.Patch{patch}, Events: membershipEvents(nodestate.LedgerOf(node), d)}
}

// membershipEvents returns an event for each NodePool that the node joins or leaves.
func membershipEvents(held nodestate.Ledger, d nodestate.Desired) []kit.Event {
	var events []kit.Event
	for _, pool := range d.Pools {
		if !slices.Contains(held.Pools, pool) {
			events = append(events, kit.Event{
				Reason: "JoinedNodePool", Action: "Join",
				Note: fmt.Sprintf("The node is now a member of NodePool %s and has the labels, taints and annotations of the pool", pool),
			})
		}
	}
	for _, pool := range held.Pools {
		if !slices.Contains(d.Pools, pool) {
			events = append(events, kit.Event{
				Reason: "LeftNodePool", Action: "Leave",
				Note: fmt.Sprintf("The node is no longer a member of NodePool %s; opcrew removed the labels, taints and annotations that the pool had set", pool),
			})
		}
	}
	return events
}
