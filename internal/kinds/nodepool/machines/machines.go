// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machines finds out whether nodes are in the network segments of a NodePool, and have its instance types, its
// template and its security groups. It has no side effects. Package reading reads the objects of machines, and package
// nodepool reports the result.
package machines

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// Checked reports whether a NodePool has requirements for the machines of its nodes.
func Checked(pool *nodesv1.NodePool) bool {
	return len(segmentsOf(pool)) > 0 || len(typesOf(pool)) > 0 || templateOf(pool) != nil
}

// Verify compares nodes with the requirements of a NodePool. view is what was read about its template; nil until then.
func Verify(pool *nodesv1.NodePool, nodes []*corev1.Node, view *View) Result {
	own := verifyNodes(pool, nodes)
	if own.Reason != "" {
		return own
	}
	template := verifyTemplate(pool, nodes, view)
	if len(own.Silent) == 0 || template.Reason != "" || template.Problem != nil || template.Pending {
		return template
	}
	return own
}

// verifyNodes compares what nodes themselves report.
func verifyNodes(pool *nodesv1.NodePool, nodes []*corev1.Node) Result {
	segments, types := segmentsOf(pool), typesOf(pool)
	located := Result{Reason: nodesv1.ReasonSegmentMismatch, Remedy: "correct spec.cidrs, or remove the node from the pool"}
	located.Unknown = "The status of %s has no InternalIP of an IP family in spec.cidrs, so opcrew cannot verify the segments"
	if located.examine(nodes, func(n *corev1.Node) finding { return inSegments(n, segments) }); len(located.Wrong) > 0 {
		return located
	}
	typed := Result{Reason: nodesv1.ReasonInstanceTypeMismatch, Remedy: "correct spec.machine.instanceTypes, or remove the node from the pool"}
	typed.Unknown = "The label " + corev1.LabelInstanceTypeStable + " is missing on %s, so opcrew cannot verify the instance types"
	if typed.examine(nodes, func(n *corev1.Node) finding { return ofType(n, types) }); len(typed.Wrong) > 0 {
		return typed
	}
	if len(located.Silent) > 0 {
		return Result{Silent: located.Silent, Unknown: located.Unknown}
	}
	return Result{Silent: typed.Silent, Unknown: typed.Unknown}
}

// segmentsOf returns spec.cidrs. The CRD has already validated them.
func segmentsOf(pool *nodesv1.NodePool) []netip.Prefix {
	var out []netip.Prefix
	for _, cidr := range pool.Spec.CIDRs {
		if p, err := netip.ParsePrefix(string(cidr)); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func typesOf(pool *nodesv1.NodePool) []nodesv1.InstanceType {
	if pool.Spec.Machine == nil {
		return nil
	}
	return pool.Spec.Machine.InstanceTypes
}

// inSegments finds out whether each internal address of a node is in a segment of its IP family. It ignores addresses
// of an IP family that has no segment.
func inSegments(node *corev1.Node, segments []netip.Prefix) finding {
	f := finding{known: len(segments) == 0}
	for _, a := range node.Status.Addresses {
		address, err := netip.ParseAddr(a.Address)
		if a.Type != corev1.NodeInternalIP || err != nil {
			continue
		}
		address = address.Unmap()
		family := slices.DeleteFunc(slices.Clone(segments), func(p netip.Prefix) bool { return p.Addr().Is4() != address.Is4() })
		if len(family) == 0 {
			continue
		}
		f.known = true
		if !slices.ContainsFunc(family, func(p netip.Prefix) bool { return p.Contains(address) }) {
			return finding{true, "has the address " + a.Address + ", which is in none of the segments in spec.cidrs"}
		}
	}
	return f
}

// ofType finds out whether a node has one of the instance types.
func ofType(node *corev1.Node, types []nodesv1.InstanceType) finding {
	found := node.Labels[corev1.LabelInstanceTypeStable]
	switch {
	case len(types) == 0:
		return finding{known: true}
	case found == "":
		return finding{}
	case !slices.Contains(types, nodesv1.InstanceType(found)):
		return finding{true, "has the instance type " + found + ", which is not in spec.machine.instanceTypes"}
	}
	return finding{known: true}
}
