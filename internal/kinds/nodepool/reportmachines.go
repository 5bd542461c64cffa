// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportMachines reports whether the members are in the segments of the NodePool, and have its instance types, template
// and security groups.
func reportMachines(set condition.Set, pool *nodesv1.NodePool, found machines.Result) {
	const kind = nodesv1.NodePoolMachinesMatch
	switch {
	case !machines.Checked(pool):
		set.Remove(kind)
	case found.Reason != "":
		set.False(kind, found.Reason, fmt.Sprintf("%s: node %s %s; %s", countNodes(found.Wrong), found.Wrong[0], found.First, found.Remedy))
	case found.Problem != nil && found.Problem.Blocks:
		set.False(kind, found.Problem.Reason, found.Problem.Message)
	case found.Problem != nil:
		set.Unknown(kind, found.Problem.Reason, found.Problem.Message)
	case found.Pending:
		reportPending(set, pool)
	case len(found.Silent) > 0:
		set.Unknown(kind, nodesv1.ReasonNotReported, fmt.Sprintf(found.Unknown, countNodes(found.Silent)))
	default:
		set.True(kind, nodesv1.ReasonAsWanted, "Every node is in the segments and of the instance types of the pool"+madeAsWanted(pool))
	}
}

// reportPending keeps the last condition about the same spec until the machines have been read, so that it does not
// change for a moment whenever the operator starts.
func reportPending(set condition.Set, pool *nodesv1.NodePool) {
	const kind = nodesv1.NodePoolMachinesMatch
	if c := meta.FindStatusCondition(*set.Conditions, kind); c == nil || c.ObservedGeneration != pool.Generation {
		set.Unknown(kind, nodesv1.ReasonNotReported, "opcrew is reading the machines of spec.machine.templateRef")
	}
}

func madeAsWanted(pool *nodesv1.NodePool) string {
	switch m := pool.Spec.Machine; {
	case m == nil || m.TemplateRef == nil:
		return ""
	case len(m.SecurityGroups) == 0:
		return ", and was made from its template"
	}
	return ", was made from its template, and has its security groups"
}

// belonging returns the nodes that belong to the NodePool.
func belonging(members []*member) []*corev1.Node {
	var nodes []*corev1.Node
	for _, m := range members {
		if m.belongs {
			nodes = append(nodes, m.node)
		}
	}
	return nodes
}
