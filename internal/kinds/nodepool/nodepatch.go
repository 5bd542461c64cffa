// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// change is one item that a node carries otherwise than it shall.
type change struct {
	item   item
	old    string
	was    bool // the node carries it now
	new    string
	wanted bool // the node shall carry it
}

// String tells the change as a user reads it in a preview.
func (c change) String() string {
	kind, old, wanted := strings.ToLower(string(c.item.kind)), condition.Cut(c.old, maxValue), condition.Cut(c.new, maxValue)
	switch {
	case !c.wanted:
		return fmt.Sprintf("remove %s %s", kind, c.item.key)
	case !c.was:
		return fmt.Sprintf("add %s %s=%s", kind, c.item.key, wanted)
	}
	return fmt.Sprintf("change %s %s from %q to %q", kind, c.item.key, old, wanted)
}

// changes lists what must change on a node, the ledger apart.
func changes(node *corev1.Node, d desired) []change {
	held := ledgerOf(node)
	var out []change
	for _, i := range sortedItems(d.items) {
		old, was := valueOn(node, i)
		if value := d.items[i].Value; !was || old != value {
			out = append(out, change{i, old, was, value, true})
		}
	}
	var owned *fieldpath.Set
	for _, i := range sortedItems(held.items) {
		if _, keep := d.items[i]; keep {
			continue
		}
		if owned == nil {
			owned = cmp.Or(ownedFields(node), fieldpath.NewSet())
		}
		if old, was := valueOn(node, i); was && removable(i, owned) {
			out = append(out, change{item: i, old: old, was: true})
		}
	}
	return out
}

// removable reports whether an item that no pool wants any more may be taken off: what
// someone else wrote since is theirs now. Taints are one list with one owner, so that
// cannot be informed of them; those that Kubernetes sets are never ours.
func removable(i item, owned *fieldpath.Set) bool {
	switch i.kind {
	case nodesv1.ConflictLabel:
		return owned.Has(fieldpath.MakePathOrDie("metadata", "labels", i.key))
	case nodesv1.ConflictAnnotation:
		return owned.Has(fieldpath.MakePathOrDie("metadata", "annotations", i.key))
	}
	if strings.HasPrefix(i.key, corev1.TaintNodeOutOfService+":") {
		return true
	}
	return !strings.HasPrefix(i.key, "node.kubernetes.io/") && !strings.HasPrefix(i.key, "node.cloudprovider.kubernetes.io/") &&
		!strings.HasPrefix(i.key, controlPlaneLabel)
}

// operation is one step of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// test makes a patch fail unless the value at path is the one that was read; nil
// stands for none.
func test(path string, value any) operation { return operation{"test", path, value} }

// nodePatch brings labels, annotations, taints and the ledger of a node to what is
// desired, in one write. Every value that it rests on is tested first: a change in
// between makes it fail as a whole, and it is decided again. Nothing else of the node
// is tested, so that heartbeats and the work of others do not get in its way.
//
// It returns false when the node is as desired.
func nodePatch(node *corev1.Node, d desired) (kit.Patch, bool) {
	todo := changes(node, d)
	oldLedger, hadLedger := node.Annotations[ledgerAnnotation]
	newLedger := d.String()
	if len(todo) == 0 && oldLedger == newLedger {
		return kit.Patch{}, false
	}
	if oldLedger != newLedger || hadLedger != (newLedger != "") {
		todo = append(todo, change{annotationItem(ledgerAnnotation), oldLedger, hadLedger, newLedger, newLedger != ""})
	}
	ops := []operation{test("/metadata/uid", string(node.UID))}
	ops = append(ops, mapOperations("/metadata/labels", nodesv1.ConflictLabel, node.Labels, todo)...)
	ops = append(ops, mapOperations("/metadata/annotations", nodesv1.ConflictAnnotation, node.Annotations, todo)...)
	ops = append(ops, taintOperations(node, todo)...)
	data, err := json.Marshal(ops)
	if err != nil { // strings and taints always encode
		panic(err)
	}
	return kit.Patch{
		Object: node, Type: types.JSONPatchType, Data: data,
		Intent: newLedger, Fields: fields(todo),
	}, true
}

func mapOperations(parent string, kind nodesv1.ConflictKind, live map[string]string, todo []change) []operation {
	var ops []operation
	for _, c := range todo {
		if c.item.kind != kind {
			continue
		}
		path := parent + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(c.item.key)
		switch {
		case c.was && c.wanted:
			ops = append(ops, test(path, c.old), operation{"replace", path, c.new})
		case c.was:
			ops = append(ops, test(path, c.old), operation{Op: "remove", Path: path})
		default:
			ops = append(ops, test(path, nil), operation{"add", path, c.new})
		}
	}
	if len(ops) > 0 && len(live) == 0 {
		create := []operation{test(parent, nil), {"add", parent, map[string]string{}}}
		return slices.Concat(create, ops)
	}
	return ops
}

// taintOperations replace the whole list, which the API treats as one value, after a
// test that it is still the one that was read.
func taintOperations(node *corev1.Node, todo []change) []operation {
	taints, changed := slices.Clone(node.Spec.Taints), false
	for _, c := range todo {
		if c.item.kind != nodesv1.ConflictTaint {
			continue
		}
		changed = true
		taints = withTaint(taints, c)
	}
	if !changed {
		return nil
	}
	unchanged := test("/spec/taints", nil)
	if len(node.Spec.Taints) > 0 {
		unchanged.Value = node.Spec.Taints
	}
	if len(taints) == 0 {
		return []operation{unchanged, {Op: "remove", Path: "/spec/taints"}}
	}
	return []operation{unchanged, {"add", "/spec/taints", taints}}
}

// withTaint applies one change to a list of taints and keeps the order of the rest.
func withTaint(taints []corev1.Taint, c change) []corev1.Taint {
	wanted := c.item.taint(c.new)
	at := slices.IndexFunc(taints, func(t corev1.Taint) bool {
		return t.Key == wanted.Key && t.Effect == wanted.Effect
	})
	switch {
	case at < 0 && c.wanted:
		return append(taints, wanted)
	case at >= 0 && c.wanted:
		taints[at] = wanted
	case at >= 0:
		return slices.Delete(taints, at, at+1)
	}
	return taints
}

// fields are the paths that a patch writes, to find out who else writes them.
func fields(todo []change) *fieldpath.Set {
	set := fieldpath.NewSet()
	for _, c := range todo {
		switch c.item.kind {
		case nodesv1.ConflictLabel:
			set.Insert(fieldpath.MakePathOrDie("metadata", "labels", c.item.key))
		case nodesv1.ConflictAnnotation:
			set.Insert(fieldpath.MakePathOrDie("metadata", "annotations", c.item.key))
		case nodesv1.ConflictTaint:
			set.Insert(fieldpath.MakePathOrDie("spec", "taints"))
		}
	}
	return set
}
