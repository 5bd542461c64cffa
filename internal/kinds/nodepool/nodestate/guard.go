// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// protected reports whether an item is a NoExecute taint that would evict pods of the control plane although the
// NodePool does not allow this.
func protected(pool *nodesv1.NodePool, node *corev1.Node, i Item) bool {
	_, controlPlane := node.Labels[controlPlaneLabel]
	controlPlane = controlPlane || pool.RoleLabel() == controlPlaneLabel
	return controlPlane && !pool.Spec.AllowNoExecuteOnControlPlane &&
		i.Kind == nodesv1.ConflictTaint && i.Taint("").Effect == corev1.TaintEffectNoExecute
}

// carried reports whether the node already has the item, set by the NodePool itself or by another client. In this case,
// withholding the item would protect no pod.
func carried(pool *nodesv1.NodePool, node *corev1.Node, held Ledger, i Item) bool {
	if e, ok := held.Items[i]; ok {
		return len(e.Pools) == 0 || slices.Contains(e.Pools, pool.Name)
	}
	_, found := valueOn(node, i)
	return found
}
