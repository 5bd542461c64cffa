// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// operation is one operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// test returns an operation that makes the patch fail unless path has the given value. A nil value means that path must
// not exist.
func test(path string, value any) operation { return operation{"test", path, value} }

// Patch returns the patch that changes labels, annotations, taints and the ledger annotation of a node to the desired
// state; false if nothing has to change. The patch tests the old values that it replaces, so it fails as a whole if any
// of these values changed meanwhile.
func Patch(node *corev1.Node, d Desired) (kit.Patch, bool) {
	todo := Changes(node, d)
	oldLedger, hadLedger := node.Annotations[LedgerAnnotation]
	newLedger := d.String()
	if len(todo) == 0 && oldLedger == newLedger {
		return kit.Patch{}, false
	}
	if oldLedger != newLedger || hadLedger != (newLedger != "") {
		todo = append(todo, Change{annotationItem(LedgerAnnotation), oldLedger, hadLedger, newLedger, newLedger != ""})
	}
	ops := []operation{test("/metadata/uid", string(node.UID))}
	ops = append(ops, mapOperations("/metadata/labels", nodesv1.ConflictLabel, node.Labels, todo)...)
	ops = append(ops, mapOperations("/metadata/annotations", nodesv1.ConflictAnnotation, node.Annotations, todo)...)
	ops = append(ops, taintOperations(node, todo)...)
	data, err := json.Marshal(ops)
	if err != nil { // cannot happen with strings and taints
		panic(err)
	}
	return kit.Patch{
		Object: node, Type: types.JSONPatchType, Data: data,
		Intent: newLedger, Fields: fields(todo),
	}, true
}

func mapOperations(parent string, kind nodesv1.ConflictKind, live map[string]string, todo []Change) []operation {
	var ops []operation
	for _, c := range todo {
		if c.Item.Kind != kind {
			continue
		}
		path := parent + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(c.Item.Key)
		switch {
		case c.was && c.Wanted:
			ops = append(ops, test(path, c.old), operation{"replace", path, c.New})
		case c.was:
			ops = append(ops, test(path, c.old), operation{Op: "remove", Path: path})
		default:
			ops = append(ops, test(path, nil), operation{"add", path, c.New})
		}
	}
	if len(ops) > 0 && len(live) == 0 {
		create := []operation{test(parent, nil), {"add", parent, map[string]string{}}}
		return slices.Concat(create, ops)
	}
	return ops
}

// taintOperations replaces the whole list of taints, which the API treats as one value, if the list has not changed
// since it was read.
func taintOperations(node *corev1.Node, todo []Change) []operation {
	taints, changed := slices.Clone(node.Spec.Taints), false
	for _, c := range todo {
		if c.Item.Kind != nodesv1.ConflictTaint {
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

// withTaint applies one change to a list of taints and keeps the order of the other taints.
func withTaint(taints []corev1.Taint, c Change) []corev1.Taint {
	wanted := c.Item.Taint(c.New)
	at := slices.IndexFunc(taints, func(t corev1.Taint) bool {
		return t.Key == wanted.Key && t.Effect == wanted.Effect
	})
	switch {
	case at < 0 && c.Wanted:
		return append(taints, wanted)
	case at >= 0 && c.Wanted:
		taints[at] = wanted
	case at >= 0:
		return slices.Delete(taints, at, at+1)
	}
	return taints
}

// fields returns the field paths that a patch writes, to detect other managers that write the same fields.
func fields(todo []Change) *fieldpath.Set {
	set := fieldpath.NewSet()
	for _, c := range todo {
		switch c.Item.Kind {
		case nodesv1.ConflictLabel:
			set.Insert(fieldpath.MakePathOrDie("metadata", "labels", c.Item.Key))
		case nodesv1.ConflictAnnotation:
			set.Insert(fieldpath.MakePathOrDie("metadata", "annotations", c.Item.Key))
		case nodesv1.ConflictTaint:
			set.Insert(fieldpath.MakePathOrDie("spec", "taints"))
		}
	}
	return set
}
