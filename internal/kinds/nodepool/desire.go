// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// controlPlaneLabel marks nodes that NoExecute taints are kept from unless the pool says otherwise.
const controlPlaneLabel = nodesv1.RolePrefix + "control-plane"

// wish is a value that one pool wants for one item on one node.
type wish struct {
	pool  *nodesv1.NodePool
	value string
}

// desired is what one node shall carry, by all pools together.
type desired struct {
	ledger
	conflicts []conflict
	withheld  []withheld
}

// conflict is a wish that is not granted on the node.
type conflict struct {
	pool   string
	item   item
	wanted string
	found  string
	owner  string // the pool that holds it; empty: someone else
}

// withheld is a NoExecute taint that is kept from a control plane node.
type withheld struct {
	pool  string
	item  item
	value string
}

// desire is the heart of the kind: what a node shall carry, given all pools. It is
// pure, and used alike to change nodes, to report on pools and to preview changes.
//
// What someone else put on the node stays theirs. Among pools, equal settings share;
// for different ones the pool that holds the item keeps it, else the older pool wins.
func desire(node *corev1.Node, pools []*nodesv1.NodePool) desired {
	held := ledgerOf(node)
	held.reclaimTaints(node, pools)
	d := desired{ledger: ledger{items: map[item]entry{}}}
	wishes := map[item][]wish{}
	for _, pool := range byAge(pools) {
		if !counts(pool, node, held) {
			continue
		}
		d.pools = append(d.pools, pool.Name)
		for i, value := range wishesOf(pool, held) {
			if protected(pool, node, i) && !carried(pool, node, held, i) {
				d.withheld = append(d.withheld, withheld{pool.Name, i, value})
				continue
			}
			wishes[i] = append(wishes[i], wish{pool, value})
		}
	}
	slices.Sort(d.pools)
	for i, wanted := range wishes {
		d.settle(i, wanted, held, node)
	}
	d.withheld = slices.DeleteFunc(d.withheld, func(w withheld) bool {
		granted, ok := d.items[w.item] // to a pool that may
		return ok && granted.Value == w.value
	})
	slices.SortFunc(d.conflicts, func(a, b conflict) int {
		return cmp.Or(a.item.compare(b.item), cmp.Compare(a.pool, b.pool))
	})
	slices.SortFunc(d.withheld, func(a, b withheld) int {
		return cmp.Or(a.item.compare(b.item), cmp.Compare(a.pool, b.pool))
	})
	return d
}

// settle grants one item to the wish that wins it and records the others as conflicts.
func (d *desired) settle(i item, wishes []wish, held ledger, node *corev1.Node) {
	if found, there := valueOn(node, i); there && !held.holds(i) {
		d.refuse(i, wishes, found, "")
		return
	}
	won := winner(wishes, held, i)
	granted := entry{Value: won.value}
	for _, w := range wishes {
		if w.value == won.value {
			granted.Pools = append(granted.Pools, w.pool.Name)
		}
	}
	d.refuse(i, wishes, won.value, won.pool.Name)
	slices.Sort(granted.Pools)
	d.items[i] = granted
}

func (d *desired) refuse(i item, wishes []wish, found, owner string) {
	for _, w := range wishes {
		if w.value != found {
			d.conflicts = append(d.conflicts, conflict{w.pool.Name, i, w.value, found, owner})
		}
	}
}

// winner chooses among settings, which come in the order of their pools' age: the pool
// that holds the item with the value it has, then one that holds it, then the oldest.
func winner(wishes []wish, held ledger, i item) wish {
	entry, ok := held.items[i]
	if !ok {
		return wishes[0]
	}
	return slices.MinFunc(wishes, func(a, b wish) int { return cmp.Compare(rank(a, entry), rank(b, entry)) })
}

func rank(w wish, held entry) int {
	holds := slices.Contains(held.Pools, w.pool.Name)
	switch {
	case holds && w.value == held.Value:
		return 0
	case len(held.Pools) == 0 && w.value == held.Value:
		return 0 // a recovered ledger does not know which pool: the value decides
	case holds:
		return 1
	}
	return 2
}

// counts reports whether a pool has a say on a node. A pool that is going away has none,
// unless it is paused; a frozen one keeps what it holds and wants nothing new. Where the
// ledger was lost it cannot be known which pool holds what, and a frozen one keeps all.
func counts(pool *nodesv1.NodePool, node *corev1.Node, held ledger) bool {
	switch {
	case pool.DeletionTimestamp != nil && !paused(pool):
		return false
	case frozen(pool):
		return held.mentions(pool.Name) || held.recovered() && belongs(pool, node, held)
	}
	return belongs(pool, node, held)
}

// frozen reports whether the user holds back what the pool would change.
func frozen(pool *nodesv1.NodePool) bool { return paused(pool) || dryRun(pool) }

func paused(pool *nodesv1.NodePool) bool {
	return common.IsSet(pool.Annotations, common.PausedAnnotation)
}

func dryRun(pool *nodesv1.NodePool) bool {
	return common.IsSet(pool.Annotations, common.DryRunAnnotation)
}

// belongs reports whether a node is a member of a pool: by a role label that no pool put
// there, or by the pool's selector. Labels put there by pools do not count, or a pool
// could keep its own members, and two pools each other's, after the reason is gone.
func belongs(pool *nodesv1.NodePool, node *corev1.Node, held ledger) bool {
	role := pool.RoleLabel()
	if _, ok := node.Labels[role]; ok && !held.holds(labelItem(role)) {
		return true
	}
	if len(pool.Spec.NodeSelector) == 0 {
		return false
	}
	for key, value := range pool.Spec.NodeSelector {
		found, ok := node.Labels[key]
		if !ok || found != string(value) || held.holds(labelItem(key)) {
			return false
		}
	}
	return true
}

// wishesOf lists what a pool wants on a member, the role label included: members by
// selector get it, so that the pool's RuntimeClass finds them.
func wishesOf(pool *nodesv1.NodePool, held ledger) map[item]string {
	wishes := map[item]string{}
	if frozen(pool) {
		for i, e := range held.items {
			if slices.Contains(e.Pools, pool.Name) || len(e.Pools) == 0 {
				wishes[i] = e.Value
			}
		}
		return wishes
	}
	wishes[labelItem(pool.RoleLabel())] = ""
	for key, value := range pool.Spec.Labels {
		wishes[labelItem(key)] = string(value)
	}
	for key, value := range pool.Spec.Annotations {
		wishes[annotationItem(key)] = string(value)
	}
	for _, t := range pool.Spec.Taints {
		wishes[taintItem(t.Key, t.Effect)] = t.Value
	}
	return wishes
}

// protected reports whether an item is a NoExecute taint that would evict the control plane.
func protected(pool *nodesv1.NodePool, node *corev1.Node, i item) bool {
	_, controlPlane := node.Labels[controlPlaneLabel]
	controlPlane = controlPlane || pool.RoleLabel() == controlPlaneLabel
	return controlPlane && !pool.Spec.AllowNoExecuteOnControlPlane &&
		i.kind == nodesv1.ConflictTaint && i.taint("").Effect == corev1.TaintEffectNoExecute
}

// carried reports whether an item is on the node already, by the pool itself or by someone
// outside the pools: then it has done what a guard could keep it from.
func carried(pool *nodesv1.NodePool, node *corev1.Node, held ledger, i item) bool {
	if e, ok := held.items[i]; ok {
		return len(e.Pools) == 0 || slices.Contains(e.Pools, pool.Name)
	}
	_, found := valueOn(node, i)
	return found
}

// valueOn gives the value that a node carries for an item.
func valueOn(node *corev1.Node, i item) (string, bool) {
	switch i.kind {
	case nodesv1.ConflictLabel:
		value, ok := node.Labels[i.key]
		return value, ok
	case nodesv1.ConflictAnnotation:
		value, ok := node.Annotations[i.key]
		return value, ok
	}
	wanted := i.taint("")
	for _, t := range node.Spec.Taints {
		if t.Key == wanted.Key && t.Effect == wanted.Effect {
			return t.Value, true
		}
	}
	return "", false
}

// byAge orders pools by creation, then by name, so that every process decides alike.
func byAge(pools []*nodesv1.NodePool) []*nodesv1.NodePool {
	return slices.SortedFunc(slices.Values(pools), func(a, b *nodesv1.NodePool) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// sortedItems lists the items of a map in a fixed order.
func sortedItems[V any](m map[item]V) []item {
	return slices.SortedFunc(maps.Keys(m), item.compare)
}
