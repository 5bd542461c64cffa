// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package netpolicy

import (
	"fmt"
	"strings"
)

// table is the name of the nftables table that the agent owns. The agent changes no other table.
const table = "inet network-policy"

// render returns an nft script that replaces the table in one transaction. A pod's chain returns permitted packets and
// drops all others. So a packet between two pods of one node must pass the chains of both.
func render(guards []guard) string {
	var out strings.Builder
	fmt.Fprintf(&out, "add table %[1]s\ndelete table %[1]s\ntable %[1]s {\n", table)
	for _, g := range guards {
		renderSide(&out, g, "out", "daddr", g.egress)
		renderSide(&out, g, "in", "saddr", g.ingress)
	}
	egress := jumps(guards, "out", "saddr", func(g guard) *side { return g.egress })
	ingress := jumps(guards, "in", "daddr", func(g guard) *side { return g.ingress })
	renderHook(&out, "forward", egress+ingress)
	renderHook(&out, "input", egress)
	out.WriteString("}\n")
	return out.String()
}

// renderHook writes a chain that the kernel calls for every packet. The chain runs after kube-proxy's filter chains,
// which may reject packets first.
func renderHook(out *strings.Builder, hook, jumps string) {
	fmt.Fprintf(out, "\tchain %[1]s {\n\t\ttype filter hook %[1]s priority 10; policy accept;\n\t\tct state established,related accept\n%[2]s\t}\n", hook, jumps)
}

// jumps returns a rule that sends the packets from or to a restricted pod to the pod's chain.
func jumps(guards []guard, direction, field string, of func(guard) *side) string {
	var targets []string
	for _, g := range guards {
		if of(g) != nil {
			targets = append(targets, fmt.Sprintf("%v : jump %s", g.address, chain(g, direction)))
		}
	}
	if len(targets) == 0 {
		return ""
	}
	return fmt.Sprintf("\t\tip %s vmap { %s }\n", field, strings.Join(targets, ", "))
}

func chain(g guard, direction string) string {
	return direction + "-" + strings.ReplaceAll(g.address.String(), ".", "-")
}

// renderSide writes the chain for one direction of a pod's connections. A pod may always reach itself, for example
// through its Service.
func renderSide(out *strings.Builder, g guard, direction, field string, s *side) {
	if s == nil {
		return
	}
	fmt.Fprintf(out, "\tchain %s {\n\t\tcomment %q\n\t\tip %s %v return\n", chain(g, direction), g.name, field, g.address)
	for _, a := range s.allow {
		for _, peer := range peerMatches(a.peers, field) {
			for _, port := range portMatches(a.ports) {
				fmt.Fprintf(out, "\t\t%s\n", strings.Join(strings.Fields(peer+" "+port+" return"), " "))
			}
		}
	}
	out.WriteString("\t\tcounter drop\n\t}\n")
}

// peerMatches returns nft expressions that match the peers' addresses. One expression matches all single addresses.
// Each larger block gets a separate expression, because the blocks of one nftables set must not overlap.
func peerMatches(peers []block, field string) []string {
	if len(peers) == 0 {
		return []string{""}
	}
	var single, out []string
	for _, b := range peers {
		switch {
		case b.prefix.IsSingleIP():
			single = append(single, b.prefix.Addr().String())
		default:
			matches := []string{fmt.Sprintf("ip %s %v", field, b.prefix)}
			for _, except := range b.except {
				matches = append(matches, fmt.Sprintf("ip %s != %v", field, except))
			}
			out = append(out, strings.Join(matches, " "))
		}
	}
	if len(single) > 0 {
		out = append(out, fmt.Sprintf("ip %s { %s }", field, strings.Join(single, ", ")))
	}
	return out
}

func portMatches(ports []portRange) []string {
	if len(ports) == 0 {
		return []string{""}
	}
	var out []string
	for _, p := range ports {
		protocol := strings.ToLower(string(p.protocol))
		switch p.from {
		case 0:
			out = append(out, "meta l4proto "+protocol)
		case p.to:
			out = append(out, fmt.Sprintf("%s dport %d", protocol, p.from))
		default:
			out = append(out, fmt.Sprintf("%s dport %d-%d", protocol, p.from, p.to))
		}
	}
	return out
}
