// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// World has what rules depend on.
type World struct {
	Pools []*nodesv1.NodePool
	Nodes []corev1.Node
	// documents are the names of the ConfigMaps that agents read. Only the reconciler of this package reads them.
	documents []string
	// apiServer is the port of the API server; 0 if it is not known. Only the reconciler of this package reads it.
	apiServer uint16
}

// Rules returns the rules of a pool for the agents of its members.
func (w World) Rules(pool *nodesv1.NodePool) nodefirewall.Pool {
	spec := pool.Spec.Firewall
	out := nodefirewall.Pool{
		Name: pool.Name, Members: w.members(pool),
		Deny: spec.DefaultPolicy != nodesv1.FirewallAllow, OpenHost: spec.HostFirewall == nodesv1.HostFirewallOpen,
	}
	for i := range spec.Rules {
		out.Rules = append(out.Rules, w.rule(&spec.Rules[i]))
	}
	return out
}

func (w World) rule(r *nodesv1.FirewallRule) nodefirewall.Rule {
	out := nodefirewall.Rule{Name: r.Name, Any: len(r.From) == 0}
	for _, source := range r.From {
		out.From = append(out.From, w.source(source)...)
	}
	slices.SortFunc(out.From, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	out.From = slices.Compact(out.From)
	for _, p := range r.Ports {
		out.Ports = append(out.Ports, portsOf(p))
	}
	return out
}

func portsOf(p nodesv1.FirewallPort) nodefirewall.Ports {
	last := p.Port
	if p.EndPort != nil {
		last = *p.EndPort
	}
	return nodefirewall.Ports{Protocol: cmp.Or(p.Protocol, nodefirewall.TCP), First: uint16(p.Port), Last: uint16(last)}
}

// source returns the addresses of a source; none if it does not exist.
func (w World) source(s nodesv1.FirewallSource) []netip.Prefix {
	if s.CIDR != "" {
		prefix, err := netip.ParsePrefix(s.CIDR)
		if err != nil {
			return nil
		}
		return []netip.Prefix{prefix}
	}
	var out []netip.Prefix
	for i := range w.Nodes {
		if node := &w.Nodes[i]; node.Name == s.Node || s.NodePool != "" && w.belongs(s.NodePool, node) {
			for _, a := range addressesOf(node) {
				out = append(out, netip.PrefixFrom(a, a.BitLen()))
			}
		}
	}
	return out
}

func (w World) belongs(pool string, node *corev1.Node) bool {
	i := slices.IndexFunc(w.Pools, func(p *nodesv1.NodePool) bool { return p.Name == pool })
	return i >= 0 && isMember(w.Pools[i], node)
}

// members returns the names of the nodes of a pool.
func (w World) members(pool *nodesv1.NodePool) []string {
	var out []string
	for i := range w.Nodes {
		if isMember(pool, &w.Nodes[i]) {
			out = append(out, w.Nodes[i].Name)
		}
	}
	slices.Sort(out)
	return out
}

func isMember(pool *nodesv1.NodePool, node *corev1.Node) bool {
	return nodestate.Belongs(pool, node, nodestate.LedgerOf(node))
}

// Missing returns the sources of a pool that do not exist, such as "NodePool gold".
func (w World) Missing(pool *nodesv1.NodePool) []string {
	var out []string
	for _, r := range pool.Spec.Firewall.Rules {
		for _, s := range r.From {
			switch {
			case s.NodePool != "" && !slices.ContainsFunc(w.Pools, func(p *nodesv1.NodePool) bool { return p.Name == s.NodePool }):
				out = append(out, "NodePool "+s.NodePool)
			case s.Node != "" && !slices.ContainsFunc(w.Nodes, func(n corev1.Node) bool { return n.Name == s.Node }):
				out = append(out, "Node "+s.Node)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// addresses returns the addresses of all nodes and their pods, sorted by the names of the nodes.
func (w World) addresses() nodefirewall.Nodes {
	out := nodefirewall.Nodes{APIServer: w.apiServer}
	for i := range w.Nodes {
		node := &w.Nodes[i]
		entry := nodefirewall.Node{Name: node.Name, Addresses: addressesOf(node)}
		for _, text := range node.Spec.PodCIDRs {
			if prefix, err := netip.ParsePrefix(text); err == nil {
				entry.Pods = append(entry.Pods, prefix)
			}
		}
		out.Nodes = append(out.Nodes, entry)
	}
	slices.SortFunc(out.Nodes, func(a, b nodefirewall.Node) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// mostAddresses is the number of addresses of a node that count. A kubelet could otherwise report so many that the
// addresses of all nodes do not fit into a ConfigMap.
const mostAddresses = 16

// addressesOf returns the internal addresses of a node, sorted; at most mostAddresses.
func addressesOf(node *corev1.Node) []netip.Addr {
	var out []netip.Addr
	for _, a := range node.Status.Addresses {
		if a.Type != corev1.NodeInternalIP {
			continue
		}
		if parsed, err := netip.ParseAddr(a.Address); err == nil {
			out = append(out, parsed.Unmap().WithZone(""))
		}
	}
	out = out[:min(len(out), mostAddresses)]
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}
