// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package opening has the rules of NodePools in the form in which other firewalls take them: one source and one range of
// ports in each. It is pure.
package opening

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Opening lets packets from one source to one range of ports.
type Opening struct {
	// From is not valid if every source is allowed.
	From netip.Prefix
	// Ports are zero if all ports and protocols are allowed.
	Ports nodefirewall.Ports
}

// Of returns the openings of rules, without repetitions, sorted.
func Of(rules []nodefirewall.Rule) []Opening {
	var out []Opening
	for _, r := range rules {
		for _, from := range sources(r) {
			for _, ports := range ports(r) {
				out = append(out, Opening{from, ports})
			}
		}
	}
	slices.SortFunc(out, compare)
	return slices.Compact(out)
}

func sources(r nodefirewall.Rule) []netip.Prefix {
	if r.Any {
		return []netip.Prefix{{}}
	}
	return r.From
}

func ports(r nodefirewall.Rule) []nodefirewall.Ports {
	if len(r.Ports) == 0 {
		return []nodefirewall.Ports{{}}
	}
	return r.Ports
}

func compare(a, b Opening) int {
	return cmp.Or(
		a.From.Addr().Compare(b.From.Addr()), cmp.Compare(a.From.Bits(), b.From.Bits()),
		cmp.Compare(a.Ports.Protocol, b.Ports.Protocol), cmp.Compare(a.Ports.First, b.Ports.First), cmp.Compare(a.Ports.Last, b.Ports.Last))
}

// Changes are what turns one list of rules into another one.
type Changes struct{ Remove, Add []string }

// Diff returns the changes from the rules that a firewall has to the declared ones.
func Diff(has, declared []string) Changes {
	return Changes{Remove: without(has, declared), Add: without(declared, has)}
}

// Size returns the number of changes.
func (c Changes) Size() int { return len(c.Remove) + len(c.Add) }

// First returns at most n of the changes. Additions come first, so that no port closes that stays declared.
func (c Changes) First(n int) Changes {
	add := c.Add[:min(n, len(c.Add))]
	return Changes{Add: add, Remove: c.Remove[:min(n-len(add), len(c.Remove))]}
}

func without(all, those []string) []string {
	known := map[string]bool{}
	for _, s := range those {
		known[s] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return known[s] })
}
