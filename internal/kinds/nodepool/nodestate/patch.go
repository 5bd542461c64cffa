// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kit"
)

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
	ops := jsonpatch.Patch{jsonpatch.Test("/metadata/uid", string(node.UID))}
	ops = append(ops, mapOperations("labels", nodesv1.ConflictLabel, node.Labels, todo)...)
	ops = append(ops, mapOperations("annotations", nodesv1.ConflictAnnotation, node.Annotations, todo)...)
	ops = append(ops, taintOperations(node, todo)...)
	return kit.Patch{
		Object: node, Type: types.JSONPatchType, Data: ops.Encode(),
		Intent: newLedger, Fields: fields(todo),
	}, true
}

// mapOperations changes a map in the metadata of a node, and creates it if the node has none.
func mapOperations(field string, kind nodesv1.ConflictKind, live map[string]string, todo []Change) jsonpatch.Patch {
	var ops jsonpatch.Patch
	for _, c := range todo {
		if c.Item.Kind != kind {
			continue
		}
		path := jsonpatch.Pointer("metadata", field, c.Item.Key)
		switch {
		case c.was && c.Wanted:
			ops = append(ops, jsonpatch.Test(path, c.old), jsonpatch.Replace(path, c.New))
		case c.was:
			ops = append(ops, jsonpatch.Test(path, c.old), jsonpatch.Remove(path))
		default:
			ops = append(ops, jsonpatch.Absent(path), jsonpatch.Add(path, c.New))
		}
	}
	if len(ops) > 0 && len(live) == 0 {
		parent := jsonpatch.Pointer("metadata", field)
		create := jsonpatch.Patch{jsonpatch.Absent(parent), jsonpatch.Add(parent, map[string]string{})}
		return slices.Concat(create, ops)
	}
	return ops
}

// taintOperations replaces the whole list of taints, which the API treats as one value, if the list has not changed
// since it was read.
func taintOperations(node *corev1.Node, todo []Change) jsonpatch.Patch {
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
	unchanged := jsonpatch.Unchanged("/spec/taints", node.Spec.Taints, len(node.Spec.Taints) > 0)
	if len(taints) == 0 {
		return jsonpatch.Patch{unchanged, jsonpatch.Remove("/spec/taints")}
	}
	return jsonpatch.Patch{unchanged, jsonpatch.Add("/spec/taints", taints)}
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
