// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportMachines reports whether the members are in the segments of the NodePool, and have its instance types.
func reportMachines(set condition.Set, pool *nodesv1.NodePool, members []*member) {
	const kind = nodesv1.NodePoolMachinesMatch
	if !machines.Checked(pool) {
		set.Remove(kind)
		return
	}
	var nodes []*corev1.Node
	for _, m := range members {
		if m.belongs {
			nodes = append(nodes, m.node)
		}
	}
	switch found := machines.Verify(pool, nodes); {
	case found.Reason != "":
		set.False(kind, found.Reason, fmt.Sprintf("%s: node %s %s; %s", countNodes(found.Wrong), found.Wrong[0], found.First, found.Remedy))
	case len(found.Silent) > 0:
		set.Unknown(kind, nodesv1.ReasonNotReported, "Address or instance type of "+countNodes(found.Silent)+" are not reported, so opcrew cannot verify them")
	default:
		set.True(kind, nodesv1.ReasonAsWanted, "Every node is in the segments and of the instance types of the pool")
	}
}
