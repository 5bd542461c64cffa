// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"net/netip"
	"slices"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Table has the rules of a node. Packets that no rule allows are dropped if Deny is set, or if Closed has their port.
type Table struct {
	Deny   bool
	Rules  []Rule
	Closed []nodefirewall.Ports // a rule without ports closes all ports: Deny
	// Nodes are the addresses of all nodes, which reach the ports of the pod network. Pods are those of the pods of this
	// node, whose traffic is the subject of NetworkPolicies.
	Nodes, Pods Sources
	// APIServer is the TCP port of the API server, which is always open; 0 if it is not known.
	APIServer uint16
}

// Rule allows packets from some sources to some ports.
type Rule struct {
	Name  string // <pool>/<name>, for people who list the rules of a node
	Any   bool
	From  Sources
	Ports []nodefirewall.Ports
}

// Merge returns the table of a node. A packet is allowed if one pool allows it. The default is to drop if one pool says
// so. It returns false if no pool has rules for this node.
func Merge(node string, pools []nodefirewall.Pool, nodes nodefirewall.Nodes) (Table, bool) {
	var out Table
	found := false
	for _, p := range pools {
		if !slices.Contains(p.Members, node) {
			continue
		}
		found = true
		out.Deny = out.Deny || p.Deny
		for _, r := range p.Rules {
			out.Rules = append(out.Rules, Rule{p.Name + "/" + r.Name, r.Any, SourcesOf(r.From), r.Ports})
			out.Deny = out.Deny || len(r.Ports) == 0 && !r.Any
			out.Closed = append(out.Closed, closedBy(r)...)
		}
	}
	if out.Deny {
		out.Closed = nil
	}
	out.Nodes, out.Pods = addresses(node, nodes)
	out.APIServer = nodes.APIServer
	return out, found
}

// closedBy returns the ports that a rule closes to other sources. A rule for every source closes none.
func closedBy(r nodefirewall.Rule) []nodefirewall.Ports {
	if r.Any {
		return nil
	}
	return r.Ports
}

func addresses(node string, nodes nodefirewall.Nodes) (all, pods Sources) {
	var every []netip.Prefix
	for _, n := range nodes.Nodes {
		for _, a := range n.Addresses {
			every = append(every, netip.PrefixFrom(a, a.BitLen()))
		}
		if n.Name == node {
			pods = SourcesOf(n.Pods)
		}
	}
	return SourcesOf(every), pods
}
