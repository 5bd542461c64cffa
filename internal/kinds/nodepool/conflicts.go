// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// maxConflicts is the maximum number of conflicts in a status.
const maxConflicts = 16

// conflictsOf returns the settings of a NodePool that were not set because another owner's value took precedence. It
// groups them by label, annotation or taint, by value and by owner.
func conflictsOf(pool string, members []*member) []nodesv1.Conflict {
	type group struct {
		item          nodestate.Item
		wanted, owner string
	}
	found := map[group]*nodesv1.Conflict{}
	var order []group
	for _, m := range members {
		if !m.belongs {
			continue
		}
		for _, c := range m.desired.Conflicts {
			if c.Pool != pool {
				continue
			}
			g := group{c.Item, c.Wanted, c.Owner}
			if found[g] == nil {
				found[g] = &nodesv1.Conflict{
					Kind: c.Item.Kind, Key: c.Item.Key, Owner: c.Owner,
					Wanted: condition.Cut(c.Wanted, nodestate.MaxValue), Found: condition.Cut(c.Found, nodestate.MaxValue),
				}
				order = append(order, g)
			}
			found[g].NodeCount++
			found[g].Nodes = append(found[g].Nodes, m.node.Name)
		}
	}
	slices.SortFunc(order, func(a, b group) int {
		return cmp.Or(a.item.Compare(b.item), strings.Compare(a.owner, b.owner))
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

// describe describes a conflict in one line and says what to do about it.
func describe(c nodesv1.Conflict) string {
	nodes := strings.Join(c.Nodes, ", ")
	if int(c.NodeCount) > len(c.Nodes) {
		nodes += ", ..."
	}
	owner, remedy := "a client other than opcrew", "remove this setting from the node, or change the spec of the pool"
	if c.Owner != "" {
		owner, remedy = "NodePool "+c.Owner, "give both pools the same value, or remove this setting from one pool"
	}
	return fmt.Sprintf("%s %s should have the value %q, but has the value %q, which belongs to %s, on %s (%s): %s",
		strings.ToLower(string(c.Kind)), c.Key, c.Wanted, c.Found, owner, plural(int(c.NodeCount), "node"), nodes, remedy)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
