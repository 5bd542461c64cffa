// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kernel

import (
	"slices"

	"github.com/google/nftables/expr"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// program is the content of the table: named sets of addresses, and the rules of the chain.
type program struct {
	sets  []set
	rules []rule
}

// rule is a rule of the chain with a comment.
type rule struct {
	exprs   []expr.Any
	comment string
}

// set has addresses of one family.
type set struct {
	name   string
	v6     bool
	ranges []ruleset.Range
}

func (p *program) rule(comment string, parts ...[]expr.Any) {
	p.rules = append(p.rules, rule{slices.Concat(parts...), comment})
}

// from returns the matches of sources, one for each family that has addresses.
func (p *program) from(name string, sources ruleset.Sources) [][]expr.Any {
	var out [][]expr.Any
	for _, s := range []set{{name + "_v4", false, sources.V4}, {name + "_v6", true, sources.V6}} {
		if len(s.ranges) > 0 {
			p.sets = append(p.sets, s)
			out = append(out, source(s))
		}
	}
	return out
}

// compile returns the program of a table. The order of its rules is their precedence.
func compile(t ruleset.Table) *program {
	p := &program{}
	p.rule("loopback", loopback(), accept())
	p.rule("not for an address of the node", notLocal(), accept())
	p.rule("answers", established(), accept())
	p.failsafe(t.APIServer)
	p.cluster(t)
	p.allowed(t.Rules)
	for _, ports := range t.Closed {
		p.rule("only the sources above", destination(ports), drop())
	}
	if t.Deny {
		p.rule("defaultPolicy Deny", drop())
	}
	return p
}

// failsafe opens the ports without which a node could neither be repaired nor keep its addresses.
func (p *program) failsafe(apiServer uint16) {
	for _, protocol := range []byte{icmp, icmpv6} {
		p.rule("ICMP", isProtocol(protocol), accept())
	}
	for _, ports := range failsafe() {
		p.rule("always open", destination(ports), accept())
	}
	if apiServer != 0 && apiServer != usualAPIServer {
		p.rule("always open", destination(nodefirewall.Ports{Protocol: nodefirewall.TCP, First: apiServer, Last: apiServer}), accept())
	}
}

// usualAPIServer is the port of most API servers. It is open even while the port is not known.
const usualAPIServer = 6443

// failsafe returns the ports that are always open: SSH, the API server, etcd, the kubelet and DHCP.
func failsafe() []nodefirewall.Ports {
	return []nodefirewall.Ports{
		{Protocol: nodefirewall.TCP, First: 22, Last: 22},
		{Protocol: nodefirewall.TCP, First: 2379, Last: 2380},
		{Protocol: nodefirewall.TCP, First: usualAPIServer, Last: usualAPIServer},
		{Protocol: nodefirewall.TCP, First: 10250, Last: 10250},
		{Protocol: nodefirewall.UDP, First: 68, Last: 68},
		{Protocol: nodefirewall.UDP, First: 546, Last: 546},
	}
}

// cluster opens the ports of pod networks for nodes, and everything for pods of this node: what they may reach is the
// subject of NetworkPolicies. A packet with the address of a pod counts only from the interface of the pod.
func (p *program) cluster(t ruleset.Table) {
	for _, match := range p.from("nodes", t.Nodes) {
		for _, protocol := range []byte{ipip, ip6in4, gre, esp} {
			p.rule("pod network", match, isProtocol(protocol), accept())
		}
		for _, ports := range overlay() {
			p.rule("pod network", match, destination(ports), accept())
		}
	}
	for _, match := range p.from("pods", t.Pods) {
		p.rule("pods of the node", match, arrivesWhereItsAnswerLeaves(), accept())
	}
}

// overlay returns the ports of pod networks: BGP, Typha, VXLAN, Geneve and WireGuard.
func overlay() []nodefirewall.Ports {
	return []nodefirewall.Ports{
		{Protocol: nodefirewall.TCP, First: 179, Last: 179},
		{Protocol: nodefirewall.TCP, First: 5473, Last: 5473},
		{Protocol: nodefirewall.UDP, First: 4789, Last: 4789},
		{Protocol: nodefirewall.UDP, First: 6081, Last: 6081},
		{Protocol: nodefirewall.UDP, First: 8472, Last: 8472},
		{Protocol: nodefirewall.UDP, First: 51820, Last: 51821},
		{Protocol: nodefirewall.UDP, First: 51871, Last: 51871},
	}
}

func (p *program) allowed(rules []ruleset.Rule) {
	for i, r := range rules {
		sources := [][]expr.Any{nil}
		if !r.Any {
			sources = p.from(setName(i), r.From)
		}
		for _, match := range sources {
			if len(r.Ports) == 0 {
				p.rule(r.Name, match, accept())
			}
			for _, ports := range r.Ports {
				p.rule(r.Name, match, destination(ports), accept())
			}
		}
	}
}
