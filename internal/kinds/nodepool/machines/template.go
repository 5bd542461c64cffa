// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// verifyTemplate compares the origin and the security groups of nodes with the requirements of a NodePool. Messages
// contain only names that the author of the NodePool wrote, and names of nodes, because the author may lack the right to
// read the objects of machines.
func verifyTemplate(pool *nodesv1.NodePool, nodes []*corev1.Node, view *View) Result {
	ref := templateOf(pool)
	switch {
	case ref == nil:
		return Result{}
	case view == nil:
		return Result{Pending: true}
	case view.Problem != nil:
		return Result{Problem: view.Problem}
	}
	made := Result{Reason: nodesv1.ReasonTemplateMismatch, Remedy: "correct spec.machine.templateRef, or remove the node from the pool"}
	made.Unknown = "No object shows what made the machines of %s, so opcrew cannot verify them"
	if made.examine(nodes, func(n *corev1.Node) finding { return madeFrom(n, *ref, view) }); len(made.Wrong) > 0 {
		return made
	}
	grouped := verifyGroups(pool, known(nodes, made.Silent), view)
	if len(grouped.Wrong) > 0 || len(made.Silent) == 0 {
		return grouped
	}
	return Result{Silent: made.Silent, Unknown: made.Unknown}
}

// verifyGroups compares the security groups of nodes that were made from the template of a NodePool.
func verifyGroups(pool *nodesv1.NodePool, nodes []*corev1.Node, view *View) Result {
	ref := *pool.Spec.Machine.TemplateRef
	out := Result{Reason: nodesv1.ReasonSecurityGroupMismatch, Remedy: "add the security group to the template, or correct spec.machine.securityGroups"}
	out.Unknown = "The objects of " + describe(ref) + " do not show all security groups of %s, so opcrew cannot verify them"
	if out.examine(nodes, func(n *corev1.Node) finding { return inGroups(n, pool.Spec.Machine.SecurityGroups, ref, view) }); len(out.Wrong) > 0 {
		return out
	}
	return Result{Silent: out.Silent, Unknown: out.Unknown}
}

// known returns the nodes without those that show nothing.
func known(nodes []*corev1.Node, silent []string) []*corev1.Node {
	unknown := map[string]bool{}
	for _, name := range silent {
		unknown[name] = true
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n *corev1.Node) bool { return unknown[n.Name] })
}

// madeFrom finds out whether the machine of a node was made from a template.
func madeFrom(node *corev1.Node, ref nodesv1.TemplateRef, view *View) finding {
	record, found := view.find(node)
	source := SourceOf(ref)
	switch {
	case !found && (view.tooYoung(node) || !source.Karpenter() && node.Spec.ProviderID == ""):
		return finding{}
	case !found && source.Karpenter():
		return finding{true, "has no NodeClaim of Karpenter, so it was not made from " + describe(ref)}
	case !found:
		return finding{true, fmt.Sprintf("has no %s in namespace %s, so it was not made from %s", source.Kind, ref.Namespace, describe(ref))}
	case record == nil || record.Name == "":
		return finding{}
	case record.Name != ref.Name || record.Kind != KindOf(ref).GroupKind():
		return finding{true, "was not made from " + describe(ref)}
	}
	return finding{known: true}
}

// inGroups finds out whether a machine that was made from a template has security groups. The groups of a NodeClass are
// all groups of its machines, unless they drifted. The object of a machine of Cluster API names only some of its groups.
func inGroups(node *corev1.Node, groups []nodesv1.SecurityGroup, ref nodesv1.TemplateRef, view *View) finding {
	record, _ := view.find(node)
	all := SourceOf(ref).Karpenter() && len(view.groups) > 0 && !record.Drifted
	shown := record.Groups
	if all {
		shown = view.groups
	}
	for _, g := range groups {
		switch has := slices.Contains(shown, string(g)); {
		case !has && !all:
			return finding{}
		case !has:
			return finding{true, fmt.Sprintf("was made from %s, which does not have the security group %s", describe(ref), g)}
		}
	}
	return finding{known: true}
}
