// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodestate determines what all pools together set on a node: the ledger of what they have set, the desired
// state, and the patch between the two. It is pure. A pool's RuntimeClass, status and watches belong to package
// nodepool.
package nodestate

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// controlPlaneLabel marks nodes on which NoExecute taints are withheld, unless the pool allows them.
const controlPlaneLabel = nodesv1.RolePrefix + "control-plane"

// setting is the value that one pool sets for one item on one node.
type setting struct {
	pool  *nodesv1.NodePool
	value string
}

// Desired holds what one node should have, according to all pools together.
type Desired struct {
	Ledger
	Conflicts []conflict
	Withheld  []Withheld
}

// conflict is a setting that is not applied to the node.
type conflict struct {
	Pool   string
	Item   Item
	Wanted string
	Found  string
	Owner  string // the pool that holds it; empty if another client set it
}

// Withheld is a NoExecute taint that is not set on a control plane node.
type Withheld struct {
	Pool  string
	item  Item
	value string
}

// Desire returns what a node should carry, given all pools. An item that another owner set first stays as it is. Pools
// can share equal settings. If their settings differ, the pool that holds the item keeps it; otherwise the older pool
// wins.
func Desire(node *corev1.Node, pools []*nodesv1.NodePool) Desired {
	held := LedgerOf(node)
	held.reclaimTaints(node, pools)
	d := Desired{Ledger: Ledger{Items: map[Item]entry{}}}
	settings := map[Item][]setting{}
	for _, pool := range byAge(pools) {
		if !counts(pool, node, held) {
			continue
		}
		d.Pools = append(d.Pools, pool.Name)
		for i, value := range settingsOf(pool, held) {
			if protected(pool, node, i) && !carried(pool, node, held, i) {
				d.Withheld = append(d.Withheld, Withheld{pool.Name, i, value})
				continue
			}
			settings[i] = append(settings[i], setting{pool, value})
		}
	}
	slices.Sort(d.Pools)
	for i, wanted := range settings {
		d.settle(i, wanted, held, node)
	}
	d.Withheld = slices.DeleteFunc(d.Withheld, func(w Withheld) bool {
		granted, ok := d.Items[w.item] // granted to a pool that may set it
		return ok && granted.Value == w.value
	})
	slices.SortFunc(d.Conflicts, func(a, b conflict) int {
		return cmp.Or(a.Item.Compare(b.Item), cmp.Compare(a.Pool, b.Pool))
	})
	slices.SortFunc(d.Withheld, func(a, b Withheld) int {
		return cmp.Or(a.item.Compare(b.item), cmp.Compare(a.Pool, b.Pool))
	})
	return d
}

// settle grants one item to the winning setting and records the others as conflicts.
func (d *Desired) settle(i Item, settings []setting, held Ledger, node *corev1.Node) {
	if found, there := valueOn(node, i); there && !held.holds(i) {
		d.refuse(i, settings, found, "")
		return
	}
	won := winner(settings, held, i)
	granted := entry{Value: won.value}
	for _, w := range settings {
		if w.value == won.value {
			granted.Pools = append(granted.Pools, w.pool.Name)
		}
	}
	d.refuse(i, settings, won.value, won.pool.Name)
	slices.Sort(granted.Pools)
	d.Items[i] = granted
}

func (d *Desired) refuse(i Item, settings []setting, found, owner string) {
	for _, w := range settings {
		if w.value != found {
			d.Conflicts = append(d.Conflicts, conflict{w.pool.Name, i, w.value, found, owner})
		}
	}
}

// winner chooses among settings, which are sorted by the age of their pools. It prefers a pool that holds the item with
// its current value, then a pool that holds it, then the oldest pool.
func winner(settings []setting, held Ledger, i Item) setting {
	entry, ok := held.Items[i]
	if !ok {
		return settings[0]
	}
	return slices.MinFunc(settings, func(a, b setting) int { return cmp.Compare(rank(a, entry), rank(b, entry)) })
}

func rank(w setting, held entry) int {
	holds := slices.Contains(held.Pools, w.pool.Name)
	switch {
	case holds && w.value == held.Value:
		return 0
	case len(held.Pools) == 0 && w.value == held.Value:
		return 0 // a recovered ledger does not know the pool, so the value decides
	case holds:
		return 1
	}
	return 2
}

// sortedItems returns the items of a map in a fixed order.
func sortedItems[V any](m map[Item]V) []Item {
	return slices.SortedFunc(maps.Keys(m), Item.Compare)
}
