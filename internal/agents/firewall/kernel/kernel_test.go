// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kernel

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/nftables"

	"github.com/opcrew/opcrew/internal/agents/firewall/nettest"
	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// proxy is what kube-proxy writes for a NodePort, in short.
const proxy = `table inet kube-proxy {
	counter reached { }
	chain nat-prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		meta nfproto ipv4 tcp dport 30080 fib daddr type local dnat ip to 10.88.0.2:8080
		meta nfproto ipv6 tcp dport 30080 fib daddr type local dnat ip6 to [fd88::2]:8080
	}
	chain filter-forward {
		type filter hook forward priority filter; policy accept;
		ct state new,established,related accept
	}
}
`

func kernelOf(h *nettest.Host) *Kernel { return New(nftables.WithNetNSFd(int(h.File.Fd()))) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func addresses(hosts ...*nettest.Host) []netip.Prefix {
	var out []netip.Prefix
	for _, h := range hosts {
		out = append(out, netip.MustParsePrefix(h.V4+"/32"), netip.MustParsePrefix(h.V6+"/128"))
	}
	return out
}

func tcp(first, last uint16) nodefirewall.Ports {
	return nodefirewall.Ports{Protocol: nodefirewall.TCP, First: first, Last: last}
}

func udp(port uint16) nodefirewall.Ports {
	return nodefirewall.Ports{Protocol: nodefirewall.UDP, First: port, Last: port}
}

func tableOf(deny bool, rules ...nodefirewall.Rule) ruleset.Table {
	t, _ := ruleset.Merge("node", []nodefirewall.Pool{{Name: "p", Members: []string{"node"}, Deny: deny, Rules: rules}}, nodefirewall.Nodes{})
	return t
}

// expect checks with real packets, over both families, which ports a host reaches at another one.
func expect(t *testing.T, when string, from, to *nettest.Host, network string, port int, want bool) {
	t.Helper()
	for _, family := range []struct{ suffix, address string }{{"4", to.V4}, {"6", to.V6}} {
		if got := from.Reaches(network+family.suffix, family.address, port); got != want {
			t.Errorf("%s: expected %s%s port %d to be reachable: %v, found %v", when, network, family.suffix, port, want, got)
		}
	}
}

func TestDeclaredSourcesReachThePortsAndNoOthers(t *testing.T) {
	n := nettest.New(t)
	node, friend, other := n.Host(t), n.Host(t), n.Host(t)
	pod := n.Pod(t, node)
	for _, port := range []int{22, 80, 85, 5000} {
		node.Serve(t, port)
	}
	pod.Serve(t, 8080)
	other.Serve(t, 7000)
	node.Load(t, proxy)
	before := node.Run(t, "nft", "-s", "list", "ruleset")
	for _, port := range []int{80, 5000, 30080} {
		expect(t, "without rules", other, node, "tcp", port, true)
	}

	k := kernelOf(node)
	must(t, k.Apply(tableOf(true,
		nodefirewall.Rule{Name: "web", From: addresses(friend), Ports: []nodefirewall.Ports{tcp(80, 90), tcp(30080, 30080), udp(5000)}},
		nodefirewall.Rule{Any: true, Ports: []nodefirewall.Ports{tcp(85, 85)}},
	)))
	for _, test := range []struct {
		network     string
		port        int
		friend, all bool
	}{
		{"tcp", 80, true, false}, {"tcp", 85, true, true}, {"tcp", 30080, true, false}, {"udp", 5000, true, false},
		{"tcp", 5000, false, false}, {"udp", 80, false, false}, {"tcp", 22, true, true},
	} {
		expect(t, "from a declared source", friend, node, test.network, test.port, test.friend)
		expect(t, "from another source", other, node, test.network, test.port, test.all)
	}
	expect(t, "from the node to another host", node, other, "tcp", 7000, true)
	expect(t, "from the node to another host", node, other, "udp", 7000, true)
	expect(t, "from the node to itself", node, node, "tcp", 5000, true)
	for _, address := range []string{node.V4, node.V6} {
		if !other.Pings(address) {
			t.Errorf("expected %s to answer an echo request", address)
		}
	}
	other.Run(t, "ip", "route", "add", "10.88.0.0/24", "via", node.V4)
	if !other.Reaches("tcp4", pod.V4, 8080) {
		t.Error("expected traffic to addresses of pods to pass, because it is the subject of NetworkPolicies")
	}
	if after := node.Run(t, "nft", "-s", "list", "table", "inet", "kube-proxy"); after != before {
		t.Errorf("expected the table of kube-proxy to stay as it was:\n%s\nfound\n%s", before, after)
	}
	if listed := node.Run(t, "nft", "list", "table", "inet", nodefirewall.Table); !strings.Contains(listed, `comment "p/web"`) {
		t.Errorf("expected the name of the rule, found\n%s", listed)
	}
	must(t, k.Remove())
	if after := node.Run(t, "nft", "-s", "list", "ruleset"); after != before {
		t.Errorf("expected nothing of opcrew to stay, found\n%s", after)
	}
	expect(t, "after the removal", other, node, "tcp", 5000, true)
}

func TestTheAPIServerIsReachableOnItsOwnPort(t *testing.T) {
	n := nettest.New(t)
	node, other := n.Host(t), n.Host(t)
	for _, port := range []int{6443, 16443, 80} {
		node.Serve(t, port)
	}
	rules, k := tableOf(true), kernelOf(node)
	rules.APIServer = 16443
	must(t, k.Apply(rules))
	for port, open := range map[int]bool{6443: true, 16443: true, 80: false} {
		expect(t, "with the port of the API server", other, node, "tcp", port, open)
	}
}

func TestAJoinOpensBothEndsAndALeaveClosesThem(t *testing.T) {
	n := nettest.New(t)
	hosts := []*nettest.Host{n.Host(t), n.Host(t), n.Host(t)}
	for _, h := range hosts {
		h.Serve(t, 9000)
	}
	// apply declares that nodes of the pool reach each other, as each member's agent does it.
	apply := func(members ...*nettest.Host) {
		t.Helper()
		for _, h := range members {
			must(t, kernelOf(h).Apply(tableOf(true, nodefirewall.Rule{From: addresses(members...), Ports: []nodefirewall.Ports{tcp(9000, 9000)}})))
		}
	}
	apply(hosts[0], hosts[1])
	expect(t, "a member", hosts[0], hosts[1], "tcp", 9000, true)
	expect(t, "before the join", hosts[2], hosts[0], "tcp", 9000, false)
	apply(hosts...)
	for _, from := range hosts {
		for _, to := range hosts {
			expect(t, "after the join", from, to, "tcp", 9000, true)
		}
	}
	kept := hosts[2].Open("tcp4", hosts[0].V4, 9000)
	must(t, kernelOf(hosts[2]).Remove())
	apply(hosts[0], hosts[1])
	expect(t, "after the leave", hosts[2], hosts[0], "tcp", 9000, false)
	expect(t, "after the leave, the other direction", hosts[0], hosts[2], "tcp", 9000, true)
	if kept == nil || !nettest.Answers(kept) {
		t.Error("expected a connection that exists to go on")
	}
}

func TestADefaultOfAllowClosesOnlyThePortsOfRules(t *testing.T) {
	n := nettest.New(t)
	node, friend, other := n.Host(t), n.Host(t), n.Host(t)
	node.Serve(t, 80)
	node.Serve(t, 5000)
	must(t, kernelOf(node).Apply(tableOf(false, nodefirewall.Rule{From: addresses(friend), Ports: []nodefirewall.Ports{tcp(80, 80)}})))
	expect(t, "the port of a rule", friend, node, "tcp", 80, true)
	expect(t, "the port of a rule, another source", other, node, "tcp", 80, false)
	expect(t, "another port", other, node, "tcp", 5000, true)
	expect(t, "another protocol", other, node, "udp", 80, true)
}

func TestPodsOfANodeReachItAndNoOneElseWithTheirAddresses(t *testing.T) {
	n := nettest.New(t)
	node, other := n.Host(t), n.Host(t)
	pod := n.Pod(t, node)
	node.Serve(t, 53)
	rules := tableOf(true)
	rules.Pods = ruleset.SourcesOf([]netip.Prefix{netip.MustParsePrefix("10.88.0.0/24"), netip.MustParsePrefix("fd88::/64")})
	must(t, kernelOf(node).Apply(rules))
	expect(t, "a pod of the node", pod, node, "tcp", 53, true)
	// Another host sends packets with the address of a pod. Strict checks of the host are off.
	node.Run(t, "sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.eth0.rp_filter=0")
	other.Run(t, "ip", "address", "add", "10.88.0.7/32", "dev", "eth0")
	other.Run(t, "ip", "route", "add", node.V4, "dev", "eth0", "src", "10.88.0.7")
	other.Reaches("udp4", node.V4, 53)
	if rest := node.Run(t, "nft", "list", "table", "inet", nodefirewall.Table); !strings.Contains(rest, "counter packets 1 ") {
		t.Errorf("expected the packet with a false address to be dropped, found\n%s", rest)
	}
}

func TestNodesReachThePortsOfThePodNetwork(t *testing.T) {
	n := nettest.New(t)
	node, peer, other := n.Host(t), n.Host(t), n.Host(t)
	node.Serve(t, 4789)
	rules := tableOf(true)
	rules.Nodes = ruleset.SourcesOf(addresses(node, peer))
	must(t, kernelOf(node).Apply(rules))
	expect(t, "another node", peer, node, "udp", 4789, true)
	expect(t, "another node, another protocol", peer, node, "tcp", 4789, false)
	expect(t, "another host", other, node, "udp", 4789, false)
}

func TestADifferenceIsNoticed(t *testing.T) {
	n := nettest.New(t)
	node := n.Host(t)
	k := kernelOf(node)
	rules := tableOf(true, nodefirewall.Rule{From: addresses(node), Ports: []nodefirewall.Ports{tcp(80, 90)}})
	for name, script := range map[string]string{
		"the table is gone":      "delete table inet opcrew_firewall",
		"everything is gone":     "flush ruleset",
		"the chain is empty":     "flush chain inet opcrew_firewall arriving",
		"a rule is added":        "insert rule inet opcrew_firewall arriving accept",
		"a source is added":      "add element inet opcrew_firewall rule0_v4 { 10.9.9.9 }",
		"a source is gone":       "flush set inet opcrew_firewall rule0_v6",
		"another chain is added": "add chain inet opcrew_firewall other { type filter hook input priority 0; }",
		"another set is added":   "add set inet opcrew_firewall other { type ipv4_addr; }",
	} {
		must(t, k.Apply(rules))
		if active, err := k.Active(rules); !active {
			t.Fatalf("expected the rules to be active, got %v", err)
		}
		node.Load(t, script)
		if active, err := k.Active(rules); active || err != nil {
			t.Errorf("%s: expected the difference to be noticed, got %v", name, err)
		}
		must(t, k.Apply(rules))
	}
	if active, _ := k.Active(tableOf(true)); active {
		t.Error("expected other rules not to be active")
	}
}

func TestEveryAddressAndPortCanBeWritten(t *testing.T) {
	n := nettest.New(t)
	k := kernelOf(n.Host(t))
	for _, text := range []string{"0.0.0.0/0", "::/0", "255.255.255.255/32", "0.0.0.0/32", "::/128", "fd00::/7", "10.1.2.3/31"} {
		must(t, k.Apply(tableOf(true, nodefirewall.Rule{From: []netip.Prefix{netip.MustParsePrefix(text)},
			Ports: []nodefirewall.Ports{tcp(1, 65535), udp(65535), {Protocol: nodefirewall.SCTP, First: 1, Last: 2}}})))
	}
}

func TestTheRulesOfAClusterOfFiveThousandNodesFit(t *testing.T) {
	n := nettest.New(t)
	node := n.Host(t)
	var all []netip.Prefix
	for i := range 5000 {
		all = append(all, netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.1/32", i/250, i%250)), netip.MustParsePrefix(fmt.Sprintf("fd00::%x:1/128", i)))
	}
	var rules []nodefirewall.Rule
	for i := range 64 {
		from := addresses(node)
		if i < 4 {
			from = all
		}
		rules = append(rules, nodefirewall.Rule{From: from, Ports: []nodefirewall.Ports{tcp(80, 90), udp(uint16(i + 1))}})
	}
	rest := tableOf(true, rules...)
	rest.Nodes = ruleset.SourcesOf(all)
	must(t, kernelOf(node).Apply(rest))
}

func TestOtherFirewallsAreReported(t *testing.T) {
	n := nettest.New(t)
	node := n.Host(t)
	k := kernelOf(node)
	if others, err := k.Others(); err != nil || len(others) > 0 {
		t.Errorf("expected no other firewall, got %v, %v", others, err)
	}
	node.Load(t, "table inet firewalld {\n chain filter_INPUT {\n }\n}\ntable ip filter {\n chain ufw-user-input {\n }\n}\n")
	if others, err := k.Others(); err != nil || strings.Join(others, " ") != "firewalld ufw" {
		t.Errorf("expected both, got %v, %v", others, err)
	}
}
