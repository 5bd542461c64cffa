// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

// factsOf returns the facts about a NodePool in a cluster of the given pools and nodes. The RuntimeClass of every pool
// is up to date.
func factsOf(pool *nodesv1.NodePool, pools []*nodesv1.NodePool, nodes ...*corev1.Node) facts {
	f := facts{pools: pools, nodes: membersOf(pool.Name, pools, nodesOf(nodes))}
	if nodestate.DryRun(pool) {
		f.preview = membersOf(pool.Name, thaw(pool, pools), nodesOf(nodes))
	}
	return f
}

func nodesOf(nodes []*corev1.Node) []corev1.Node {
	out := make([]corev1.Node, len(nodes))
	for i, n := range nodes {
		out[i] = *n
	}
	return out
}

// settled returns the node as it is after opcrew has reconciled it with the given pools.
func settled(t testing.TB, node *corev1.Node, pools ...*nodesv1.NodePool) *corev1.Node {
	t.Helper()
	patch, needed := nodestate.Patch(node, nodestate.Desire(node, pools))
	if !needed {
		return node
	}
	return pooltest.Applied(t, node, patch.Data)
}
