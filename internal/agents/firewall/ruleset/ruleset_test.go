// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

var compare = cmp.Options{cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Rule{}, "Name")}

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

func between(first, last string) Range {
	return Range{netip.MustParseAddr(first), netip.MustParseAddr(last)}
}

func TestSourcesNeitherOverlapNorTouch(t *testing.T) {
	for name, test := range map[string]struct {
		in   []netip.Prefix
		want Sources
	}{
		"none":            {nil, Sources{}},
		"both families":   {prefixes("10.0.0.0/8", "fd00::/16"), Sources{[]Range{between("10.0.0.0", "10.255.255.255")}, []Range{between("fd00::", "fd00:ffff:ffff:ffff:ffff:ffff:ffff:ffff")}}},
		"twice":           {prefixes("10.0.0.1/32", "10.0.0.1/32"), Sources{V4: []Range{between("10.0.0.1", "10.0.0.1")}}},
		"inside":          {prefixes("10.1.0.0/16", "10.0.0.0/8", "10.2.0.0/16"), Sources{V4: []Range{between("10.0.0.0", "10.255.255.255")}}},
		"side by side":    {prefixes("10.0.1.0/24", "10.0.0.0/24"), Sources{V4: []Range{between("10.0.0.0", "10.0.1.255")}}},
		"apart":           {prefixes("10.0.2.0/24", "10.0.0.0/24"), Sources{V4: []Range{between("10.0.0.0", "10.0.0.255"), between("10.0.2.0", "10.0.2.255")}}},
		"all, and one":    {prefixes("0.0.0.0/0", "255.255.255.255/32"), Sources{V4: []Range{between("0.0.0.0", "255.255.255.255")}}},
		"bits of a host":  {prefixes("10.0.0.77/24"), Sources{V4: []Range{between("10.0.0.0", "10.0.0.255")}}},
		"all of IPv6":     {prefixes("::/0", "fd00::1/128"), Sources{V6: []Range{between("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")}}},
		"neighbours of 6": {prefixes("fd00::1/128", "fd00::2/128"), Sources{V6: []Range{between("fd00::1", "fd00::2")}}},
	} {
		if diff := cmp.Diff(test.want, SourcesOf(test.in), compare); diff != "" {
			t.Errorf("%s (-expected +found):\n%s", name, diff)
		}
	}
}

func TestTheRulesOfAllPoolsOfANodeAreMerged(t *testing.T) {
	web := nodefirewall.Ports{Protocol: "TCP", First: 80, Last: 80}
	dns := nodefirewall.Ports{Protocol: "UDP", First: 53, Last: 53}
	from := prefixes("10.0.0.0/8")
	pool := func(name string, deny bool, rules ...nodefirewall.Rule) nodefirewall.Pool {
		return nodefirewall.Pool{Name: name, Members: []string{"a", "b"}, Deny: deny, Rules: rules}
	}
	webRule, dnsRule := nodefirewall.Rule{From: from, Ports: []nodefirewall.Ports{web}}, nodefirewall.Rule{Any: true, Ports: []nodefirewall.Ports{dns}}
	all := nodefirewall.Rule{From: from}
	allowsWeb, allowsDNS, allowsAll := Rule{From: SourcesOf(from), Ports: webRule.Ports}, Rule{Any: true, Ports: dnsRule.Ports}, Rule{From: SourcesOf(from)}
	for name, test := range map[string]struct {
		pools []nodefirewall.Pool
		want  Table
	}{
		"deny":                                 {[]nodefirewall.Pool{pool("x", true, webRule)}, Table{Deny: true, Rules: []Rule{allowsWeb}}},
		"two pools, one denies":                {[]nodefirewall.Pool{pool("x", true, webRule), pool("y", false, dnsRule)}, Table{Deny: true, Rules: []Rule{allowsWeb, allowsDNS}}},
		"allow closes the ports of its rules":  {[]nodefirewall.Pool{pool("x", false, webRule)}, Table{Rules: []Rule{allowsWeb}, Closed: webRule.Ports}},
		"a rule for every source closes none":  {[]nodefirewall.Pool{pool("x", false, dnsRule)}, Table{Rules: []Rule{allowsDNS}}},
		"a rule for all ports closes them all": {[]nodefirewall.Pool{pool("x", false, all)}, Table{Deny: true, Rules: []Rule{allowsAll}}},
		"deny without rules":                   {[]nodefirewall.Pool{pool("x", true)}, Table{Deny: true}},
	} {
		got, found := Merge("a", test.pools, nodefirewall.Nodes{})
		if diff := cmp.Diff(test.want, got, compare); !found || diff != "" {
			t.Errorf("%s: %v (-expected +found):\n%s", name, found, diff)
		}
	}
	if _, found := Merge("c", []nodefirewall.Pool{pool("x", true)}, nodefirewall.Nodes{}); found {
		t.Error("expected no rules on a node of no pool")
	}
}

func TestARuleHasTheNamesOfItsPoolAndItsOwn(t *testing.T) {
	got, _ := Merge("a", []nodefirewall.Pool{{Name: "gold", Members: []string{"a"}, Rules: []nodefirewall.Rule{{Name: "web", Any: true}}}}, nodefirewall.Nodes{})
	if got.Rules[0].Name != "gold/web" {
		t.Errorf("expected gold/web, got %s", got.Rules[0].Name)
	}
}

func TestANodeKnowsTheAddressesOfAllNodesAndOfItsOwnPods(t *testing.T) {
	nodes := nodefirewall.Nodes{APIServer: 16443, Nodes: []nodefirewall.Node{
		{Name: "a", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1")}, Pods: prefixes("10.244.1.0/24")},
		{Name: "b", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("fd00::9")}, Pods: prefixes("10.244.2.0/24")},
	}}
	got, _ := Merge("a", []nodefirewall.Pool{{Name: "x", Members: []string{"a"}}}, nodes)
	want := Table{
		Nodes: Sources{[]Range{between("10.0.0.1", "10.0.0.1"), between("10.0.0.9", "10.0.0.9")}, []Range{between("fd00::9", "fd00::9")}},
		Pods:  Sources{V4: []Range{between("10.244.1.0", "10.244.1.255")}},

		APIServer: 16443,
	}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("(-expected +found):\n%s", diff)
	}
}
