// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// MaxValue is the maximum length of a value in a status. An annotation of another owner can be up to 256 KiB long.
const MaxValue = 256

// Change describes one item (a label, annotation or taint) whose value on the node differs from the desired value.
type Change struct {
	Item Item
	old  string
	// was is true if the node has the item now.
	was    bool
	New    string
	Wanted bool // whether the node should have the item
}

// String describes the change for the preview of a dry run, such as "add label tier=gold".
func (c Change) String() string {
	kind, old, wanted := strings.ToLower(string(c.Item.Kind)), condition.Cut(c.old, MaxValue), condition.Cut(c.New, MaxValue)
	switch {
	case !c.Wanted:
		return fmt.Sprintf("remove %s %s", kind, c.Item.Key)
	case !c.was:
		return fmt.Sprintf("add %s %s=%s", kind, c.Item.Key, wanted)
	}
	return fmt.Sprintf("change %s %s from %q to %q", kind, c.Item.Key, old, wanted)
}

// Changes returns the labels, annotations and taints that must change on a node, except the ledger annotation (the
// record of what pools have set).
func Changes(node *corev1.Node, d Desired) []Change {
	held := LedgerOf(node)
	var out []Change
	for _, i := range sortedItems(d.Items) {
		old, was := valueOn(node, i)
		if value := d.Items[i].Value; !was || old != value {
			out = append(out, Change{i, old, was, value, true})
		}
	}
	var owned *fieldpath.Set
	for _, i := range sortedItems(held.Items) {
		if _, keep := d.Items[i]; keep {
			continue
		}
		if owned == nil {
			owned = cmp.Or(ownedFields(node), fieldpath.NewSet())
		}
		if old, was := valueOn(node, i); was && removable(i, owned) {
			out = append(out, Change{Item: i, old: old, was: true})
		}
	}
	return append(out, joiningChange(node, d)...)
}

// removable reports whether a label, annotation or taint (an item) that no pool sets any more may be removed. A label
// or annotation may not be removed if another client wrote it later. managedFields do not distinguish single taints, so
// all taints count as opcrew's, except those of Kubernetes.
func removable(i Item, owned *fieldpath.Set) bool {
	switch i.Kind {
	case nodesv1.ConflictLabel:
		return owned.Has(fieldpath.MakePathOrDie("metadata", "labels", i.Key))
	case nodesv1.ConflictAnnotation:
		return owned.Has(fieldpath.MakePathOrDie("metadata", "annotations", i.Key))
	}
	if strings.HasPrefix(i.Key, corev1.TaintNodeOutOfService+":") {
		return true
	}
	return !strings.HasPrefix(i.Key, "node.kubernetes.io/") && !strings.HasPrefix(i.Key, "node.cloudprovider.kubernetes.io/") &&
		!strings.HasPrefix(i.Key, controlPlaneLabel)
}
