// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Bounds of conflicts in a status. Someone else's annotation can be 256 KiB long.
const (
	maxConflicts = 16
	maxValue     = 256
)

// conflictsOf groups what a pool wants and does not get by item, value and owner.
func conflictsOf(pool string, f facts) []nodesv1.Conflict {
	type group struct {
		item          item
		wanted, owner string
	}
	found := map[group]*nodesv1.Conflict{}
	var order []group
	for _, m := range f.nodes {
		if !m.belongs {
			continue
		}
		for _, c := range m.desired.conflicts {
			if c.pool != pool {
				continue
			}
			g := group{c.item, c.wanted, c.owner}
			if found[g] == nil {
				found[g] = &nodesv1.Conflict{
					Kind: c.item.kind, Key: c.item.key, Owner: c.owner,
					Wanted: condition.Cut(c.wanted, maxValue), Found: condition.Cut(c.found, maxValue),
				}
				order = append(order, g)
			}
			found[g].NodeCount++
			found[g].Nodes = append(found[g].Nodes, m.node.Name)
		}
	}
	slices.SortFunc(order, func(a, b group) int {
		return cmp.Or(a.item.compare(b.item), strings.Compare(a.owner, b.owner))
	})
	out := make([]nodesv1.Conflict, 0, len(order))
	for _, g := range order {
		c := *found[g]
		slices.Sort(c.Nodes)
		c.Nodes = c.Nodes[:min(len(c.Nodes), maxExamples)]
		out = append(out, c)
	}
	return out
}

// describe tells a conflict in one line, with what to do about it.
func describe(c nodesv1.Conflict) string {
	nodes := strings.Join(c.Nodes, ", ")
	if int(c.NodeCount) > len(c.Nodes) {
		nodes += ", ..."
	}
	owner, remedy := "somebody outside the pools", "remove it there or change spec"
	if c.Owner != "" {
		owner, remedy = "NodePool "+c.Owner, "give both pools the same value, or take it out of one"
	}
	return fmt.Sprintf("%s %s wanted %q, is %q and held by %s on %s (%s): %s",
		strings.ToLower(string(c.Kind)), c.Key, c.Wanted, c.Found, owner, plural(int(c.NodeCount), "node"), nodes, remedy)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
