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
	"github.com/opcrew/opcrew/internal/kit"
)

// nodeReconciler is keyed by a Node and is the one writer of what pools want on it:
// it sees all pools at once, so that they cannot undo each other's work.
type nodeReconciler struct {
	*kit.Tools
}

// nodeFacts are all pools and RuntimeClasses there are; both are few.
type nodeFacts struct {
	pools   []*nodesv1.NodePool
	classes map[string]*nodev1.RuntimeClass
}

// Observe reads the pools and the classes.
func (r *nodeReconciler) Observe(ctx context.Context, _ *corev1.Node) (nodeFacts, error) {
	f := nodeFacts{classes: map[string]*nodev1.RuntimeClass{}}
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

// Plan brings the node to what all pools together want of it, in one patch.
func (r *nodeReconciler) Plan(node *corev1.Node, facts nodeFacts, _ time.Time) kit.Plan {
	if node.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	d := afterClasses(node, withoutPending(node, desire(node, facts.pools), facts), facts)
	patch, needed := nodePatch(node, d)
	if !needed {
		return kit.Plan{}
	}
	return kit.Plan{Patches: []kit.Patch{patch}, Events: membershipEvents(ledgerOf(node), d)}
}

// membershipEvents tell of the pools that the node joins and leaves.
func membershipEvents(held ledger, d desired) []kit.Event {
	var events []kit.Event
	for _, pool := range d.pools {
		if !slices.Contains(held.pools, pool) {
			events = append(events, kit.Event{
				Reason: "JoinedNodePool", Action: "Join",
				Note: fmt.Sprintf("The node belongs to NodePool %s now and carries what it wants", pool),
			})
		}
	}
	for _, pool := range held.pools {
		if !slices.Contains(d.pools, pool) {
			events = append(events, kit.Event{
				Reason: "LeftNodePool", Action: "Leave",
				Note: fmt.Sprintf("The node belongs to NodePool %s no longer; what the pool put on it was taken off", pool),
			})
		}
	}
	return events
}
