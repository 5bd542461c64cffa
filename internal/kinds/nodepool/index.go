// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
)

// poolIndex is the cache index that finds nodes by the NodePools to which they may belong, so that opcrew need not read
// all nodes for a small pool.
const poolIndex = "nodepools"

func indexNodes(mgr ctrl.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Node{}, poolIndex, func(object client.Object) []string {
		return poolsNear(object.(*corev1.Node))
	})
	if err != nil {
		return fmt.Errorf("index nodes: %w", err)
	}
	return nil
}

// poolsNear returns the NodePools whose role label a node has, and the pools in its ledger annotation (the record of
// what pools have set on the node). It does not find pools that select nodes by spec.nodeSelector.
func poolsNear(node *corev1.Node) []string {
	names := map[string]bool{}
	for label := range node.Labels {
		if role, ok := strings.CutPrefix(label, nodesv1.RolePrefix); ok {
			names[role] = true
		}
	}
	for _, name := range nodestate.LedgerOf(node).AllPools() {
		names[name] = true
	}
	return sortedNames(names)
}

// nodesNear returns the nodes that may belong to a NodePool. They belong to the cache and must not be changed.
func nodesNear(ctx context.Context, reader client.Reader, pool *nodesv1.NodePool) ([]corev1.Node, error) {
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if len(pool.Spec.NodeSelector) == 0 {
		options = append(options, client.MatchingFields{poolIndex: pool.Name})
	}
	nodes := &corev1.NodeList{}
	if err := reader.List(ctx, nodes, options...); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return nodes.Items, nil
}
