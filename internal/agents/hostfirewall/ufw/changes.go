// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ufw

import (
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
)

// mostChanges is the number of changes of one call.
const mostChanges = 20

// changes are what ufw lacks. A rule in move comes before a rule of the administrator that does not allow, which so would
// have no effect.
type changes struct {
	opening.Changes
	move []string
}

// changesOf returns the changes from the listed rules to those that are declared.
func changesOf(listed []rule, declared []string) changes {
	var out changes
	var ours []string
	for i, r := range listed {
		if !r.ours {
			continue
		}
		ours = append(ours, r.packets)
		if slices.Contains(declared, r.packets) && slices.ContainsFunc(listed[i+1:], r.hides) {
			out.move = append(out.move, r.packets)
		}
	}
	out.Changes = opening.Diff(ours, declared)
	return out
}

// hides reports whether a later rule of the administrator is in the same list of the kernel, and does not allow. ufw lists
// rules for IPv6 alone after all others, whatever their order.
func (r rule) hides(later rule) bool {
	return !later.ours && later.action != "allow" && r.onlyIPv6() == later.onlyIPv6()
}

// onlyIPv6 reports whether an address of the rule is one of IPv6. A range of ports has only one colon.
func (r rule) onlyIPv6() bool {
	return slices.ContainsFunc(strings.Fields(r.packets), func(word string) bool { return strings.Count(word, ":") > 1 })
}

// Size returns the number of changes.
func (c changes) Size() int { return c.Changes.Size() + len(c.move) }

func (c changes) first() changes {
	out := changes{Changes: c.First(mostChanges)}
	out.move = c.move[:min(len(c.move), mostChanges-out.Changes.Size())]
	return out
}

func (c changes) example() string { return slices.Concat(c.Add, c.Remove, c.move)[0] }
