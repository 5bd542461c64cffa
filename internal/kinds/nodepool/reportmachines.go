// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// finding is what a node reports about its machine: whether it is known, and what is wrong; "" if nothing is.
type finding struct {
	known bool
	wrong string
}

// reportMachines reports whether the members are in the segments of the NodePool, and have its instance types.
func reportMachines(set condition.Set, pool *nodesv1.NodePool, members []*member) {
	const kind = nodesv1.NodePoolMachinesMatch
	segments, types := segmentsOf(pool), typesOf(pool)
	if len(segments) == 0 && len(types) == 0 {
		set.Remove(kind)
		return
	}
	var silent []string
	for _, check := range []struct {
		reason, remedy string
		find           func(*corev1.Node) finding
	}{
		{nodesv1.ReasonSegmentMismatch, "correct spec.cidrs, or remove the node from the pool", func(n *corev1.Node) finding { return inSegments(n, segments) }},
		{nodesv1.ReasonInstanceTypeMismatch, "correct spec.machine.instanceTypes, or remove the node from the pool", func(n *corev1.Node) finding { return ofType(n, types) }},
	} {
		wrong, unknown, first := examine(members, check.find)
		silent = append(silent, unknown...)
		if len(wrong) > 0 {
			set.False(kind, check.reason, fmt.Sprintf("%s: node %s %s; %s", countNodes(wrong), wrong[0], first, check.remedy))
			return
		}
	}
	if silent = slices.Compact(slices.Sorted(slices.Values(silent))); len(silent) > 0 {
		set.Unknown(kind, nodesv1.ReasonNotReported, "Address or instance type of "+countNodes(silent)+" are not reported, so opcrew cannot verify them")
		return
	}
	set.True(kind, nodesv1.ReasonAsWanted, "Every node is in the segments and of the instance types of the pool")
}

// examine returns the members with a wrong machine, those that report nothing, and what is wrong with the first.
func examine(members []*member, find func(*corev1.Node) finding) (wrong, silent []string, first string) {
	for _, m := range members {
		if !m.belongs {
			continue
		}
		switch f := find(m.node); {
		case f.wrong != "":
			if wrong = append(wrong, m.node.Name); first == "" {
				first = f.wrong
			}
		case !f.known:
			silent = append(silent, m.node.Name)
		}
	}
	return wrong, silent, first
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
