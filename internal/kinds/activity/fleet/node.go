// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// read sets what the node of a host says. A fleet that drains nodes leaves those alone that others have cordoned.
func (h *Host) read(a *egov1.Activity, node *corev1.Node) {
	h.Ours = node.Spec.Unschedulable && Owns(a, node)
	switch {
	case claims.ByMachineConfig(node):
		h.Problem, h.Held = "is being changed by MachineConfig", true
	case !run.StateOf(node).Ready:
		h.Problem = "is not Ready"
	case node.Spec.Unschedulable && !h.Ours:
		h.Problem, h.Held = "is cordoned"+by(node), a.Spec.Hosts.Drain != nil
	}
}

// Owns reports whether a node has the record that this fleet cordoned it.
func Owns(a *egov1.Activity, node *corev1.Node) bool {
	cordon := claims.CordonOf(node)
	return cordon != nil && cordon.UID == a.UID
}

// by names the fleet that cordoned a node, if it was one.
func by(node *corev1.Node) string {
	if cordon := claims.CordonOf(node); cordon != nil {
		return " by Activity " + cordon.Namespace + "/" + cordon.Name
	}
	return ""
}

// drain marks the hosts of a fleet that drains nodes. The node on which the operator runs comes last, because its drain
// interrupts the operator.
func (c collection) drain(operator string) {
	for _, h := range c {
		h.Drains, h.Last = true, h.Name == operator
	}
}

// why says why the host is not available; empty if it is.
func (h *Host) why() string {
	if h.Problem == "" && h.Ours {
		return "is cordoned by this Activity, because the command did not succeed there"
	}
	return h.Problem
}
