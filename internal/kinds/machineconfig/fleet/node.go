// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// node returns a node without its health.
func (f *Fleet) node(n *corev1.Node, selectors []labels.Selector) *rollout.Node {
	out := f.Readings.of(n).node
	out.Pools, out.Drained, out.Unseen = f.poolsOf(n, selectors), f.Drained[n.Name], f.Unseen[n.Name]
	if out.Activity == "" {
		out.Activity = f.Activities[n.Name]
	}
	out.HostsOperator = f.Operator != "" && n.Name == f.Operator
	return &out
}

// Unreadable is shown as the configuration of a node whose annotation is not the name of one.
const Unreadable = "unreadable"

// configName returns the name of a configuration. Agents and users can write 256 KiB into an annotation, and names are
// in the status of pools, where this does not fit.
func configName(text string) string {
	if text == "" || len(text) <= validation.DNS1123SubdomainMaxLength && len(validation.IsDNS1123Subdomain(text)) == 0 {
		return text
	}
	return Unreadable
}

// Phase returns what a node is doing, as its annotations show.
func Phase(n *corev1.Node) rollout.Phase {
	if n.Annotations[machineorder.DesiredConfig] == "" {
		return rollout.Idle
	}
	return phase(n, nodepatch.Report(n))
}

func phase(n *corev1.Node, report machineorder.Report) rollout.Phase {
	return rollout.PhaseOf(n.Annotations, report.Config)
}

// activity returns the fleet of Activities that cordoned a node, as namespace/name; empty if none did.
func activity(n *corev1.Node) string {
	if cordon := claims.CordonOf(n); cordon != nil && n.Spec.Unschedulable {
		return cordon.Namespace + "/" + cordon.Name
	}
	return ""
}

func cordon(n *corev1.Node) rollout.Cordon {
	switch {
	case !n.Spec.Unschedulable:
		return rollout.NotCordoned
	case n.Annotations[nodepatch.CordonAnnotation] != "":
		return rollout.Ours
	}
	return rollout.Foreign
}

// IsControlPlane reports whether a node runs the control plane.
func IsControlPlane(n *corev1.Node) bool {
	_, is := n.Labels["node-role.kubernetes.io/control-plane"]
	_, was := n.Labels["node-role.kubernetes.io/master"]
	return is || was
}

// condition returns a condition of a node; the zero condition if it has none.
func condition(n *corev1.Node, kind corev1.NodeConditionType) corev1.NodeCondition {
	for _, c := range n.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.NodeCondition{}
}
