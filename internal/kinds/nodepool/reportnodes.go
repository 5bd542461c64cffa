// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// count fills in the numbers in the status.
func count(status *nodesv1.NodePoolStatus, members []*member) {
	status.NodeCount, status.ReadyNodes, status.CordonedNodes, status.UpdatedNodes = 0, 0, 0, 0
	total := corev1.ResourceList{}
	for _, m := range members {
		if !m.belongs {
			continue
		}
		status.NodeCount++
		if nodeReady(m.node) {
			status.ReadyNodes++
		}
		if m.node.Spec.Unschedulable {
			status.CordonedNodes++
		}
		if len(nodestate.Changes(m.node, m.desired)) == 0 {
			status.UpdatedNodes++
		}
		for name, quantity := range m.node.Status.Allocatable {
			sum := total[name]
			sum.Add(quantity)
			total[name] = sum
		}
	}
	status.Allocatable = nil
	if len(total) > 0 {
		status.Allocatable = total
	}
}

func reportNodes(set condition.Set, pool string, members []*member, refusals map[string]string) {
	const kind = nodesv1.NodePoolNodesUpdated
	var behind, refused, protected []string
	for _, m := range members {
		if _, ok := refusals[m.node.Name]; ok {
			refused = append(refused, m.node.Name)
		} else if m.belongs && len(nodestate.Changes(m.node, m.desired)) > 0 {
			behind = append(behind, m.node.Name)
		}
		if slices.ContainsFunc(m.desired.Withheld, func(w nodestate.Withheld) bool { return w.Pool == pool }) {
			protected = append(protected, m.node.Name)
		}
	}
	slices.Sort(refused)
	switch {
	case len(refused) > 0:
		set.False(kind, nodesv1.ReasonNodeRefused, fmt.Sprintf("%s cannot be changed; node %s: %s",
			countNodes(refused), refused[0], refusals[refused[0]]))
	case len(behind) > 0:
		set.False(kind, common.ReasonUpdating, "opcrew is changing "+countNodes(behind))
	case len(protected) > 0:
		set.False(kind, nodesv1.ReasonControlPlaneProtected, fmt.Sprintf(
			"opcrew does not set NoExecute taints on %s of the control plane, because they would evict pods there; set spec.allowNoExecuteOnControlPlane to allow this", countNodes(protected)))
	default:
		set.True(kind, nodesv1.ReasonAsWanted, "Every node has the settings of the pool. Condition Conflict names any setting that another owner changed")
	}
}

func reportHandler(set condition.Set, handler string, members []*member) {
	const kind = nodesv1.NodePoolHandlerAvailable
	var missing, silent []string
	for _, m := range members {
		switch {
		case !m.belongs:
		case len(m.node.Status.RuntimeHandlers) == 0:
			silent = append(silent, m.node.Name)
		case !offers(m.node, handler):
			missing = append(missing, m.node.Name)
		}
	}
	switch {
	case len(missing) > 0:
		set.False(kind, nodesv1.ReasonHandlerMissing, fmt.Sprintf("The container runtime of %s has no handler %q, so pods of the pool cannot start there", countNodes(missing), handler))
	case len(silent) > 0:
		set.Unknown(kind, nodesv1.ReasonHandlerNotReported, "The container runtime does not report its handlers on "+countNodes(silent))
	default:
		set.True(kind, nodesv1.ReasonHandlerOffered, fmt.Sprintf("The container runtime of every node has the handler %q", handler))
	}
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func offers(node *corev1.Node, handler string) bool {
	return slices.ContainsFunc(node.Status.RuntimeHandlers, func(h corev1.NodeRuntimeHandler) bool {
		return h.Name == handler
	})
}
