// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodestate determines what all NodePools together set on a node. It reads the ledger (an annotation that
// records what pools have set), computes the desired state of the node, and returns the patch that leads to this state.
// It has no side effects. Package nodepool handles the RuntimeClass, status and watches of a pool.
package nodestate

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// controlPlaneLabel is the label of control plane nodes. They get NoExecute taints only if the NodePool allows it.
const controlPlaneLabel = nodesv1.RolePrefix + "control-plane"

// setting is the value that one NodePool requires for one item (label, annotation or taint) on one node.
type setting struct {
	pool  *nodesv1.NodePool
	value string
}

// Desired holds what a node should have according to all NodePools together.
type Desired struct {
	Ledger
	Conflicts []conflict
	Withheld  []Withheld
	// joins is true if the node joins a NodePool, also if this is not recorded yet.
	joins bool
}

// conflict is a setting of a NodePool that the node does not get, because another owner has set the item to a different
// value.
type conflict struct {
	Pool   string
	Item   Item
	Wanted string
	Found  string
	Owner  string // the pool that set the found value; empty if another client did
}

// Withheld is a NoExecute taint that opcrew does not set, because the node belongs to the control plane.
type Withheld struct {
	Pool  string
	item  Item
	value string
}

// Desire returns what a node should have, given all NodePools. A label, annotation or taint (an item) that another
// client set first stays unchanged. Pools can share equal settings. If settings differ, the pool that already set the
// item wins, or else the older pool.
func Desire(node *corev1.Node, pools []*nodesv1.NodePool) Desired {
	held := LedgerOf(node)
	return desire(node, pools, held, held.Marks)
}

// DesireMarked returns what a node should have if its ledger annotation had the given marks.
func DesireMarked(node *corev1.Node, pools []*nodesv1.NodePool, marks Marks) Desired {
	return desire(node, pools, LedgerOf(node), marks)
}

func desire(node *corev1.Node, pools []*nodesv1.NodePool, held Ledger, marks Marks) Desired {
	held.reclaimTaints(node, pools)
	d := Desired{Ledger: Ledger{Items: map[Item]entry{}}}
	settings := map[Item][]setting{}
	for _, pool := range byAge(pools) {
		if !counts(pool, node, held, marks) {
			continue
		}
		d.Pools = append(d.Pools, pool.Name)
		d.mark(pool.Name, marks)
		for i, value := range settingsOf(pool, held, marks) {
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
		granted, ok := d.Items[w.item] // another pool may set this taint; then nothing is withheld
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

// mark takes over the mark of a NodePool.
func (d *Desired) mark(pool string, marks Marks) {
	mark, ok := marks[pool]
	if !ok {
		return
	}
	if d.Marks == nil {
		d.Marks = Marks{}
	}
	d.Marks[pool] = mark
	d.joins = d.joins || mark.Phase == Joining
}

// settle decides which pool's setting an item (label, annotation or taint) gets, and records settings with other values
// as conflicts.
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

// winner returns the setting that applies; settings are sorted by the age of their NodePools. A pool that set the
// node's current value comes first, then a pool that the ledger names for this item, and then the oldest pool.
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
		return 0 // a ledger recovered from managedFields names no pool, so an equal value suffices
	case holds:
		return 1
	}
	return 2
}

// sortedItems returns the keys of a map (labels, annotations and taints) in a fixed order.
func sortedItems[V any](m map[Item]V) []Item {
	return slices.SortedFunc(maps.Keys(m), Item.Compare)
}
