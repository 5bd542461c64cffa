// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepatch

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// basis are the annotations that decisions are based on. A patch tests that they have not changed.
var basis = []string{
	machineorder.CurrentConfig, machineorder.DesiredConfig, machineorder.State, machineorder.DesiredDrain, machineorder.LastAppliedDrain,
	machineorder.OrderAnnotation, CordonAnnotation,
}

// Patch returns the patch for an edit; false if the node is already as it should be.
func (e *Edit) Patch(node *corev1.Node) (kit.Patch, bool) {
	names := e.missing(node)
	taints, tainted := e.tainted(node)
	if len(names) == 0 && !tainted && !e.cordons(node) {
		return kit.Patch{}, false
	}
	ops := tests(node)
	ops = append(ops, e.annotate(node, names)...)
	if tainted {
		ops = append(ops, replaceTaints(node, taints)...)
	}
	if e.cordons(node) {
		ops = append(ops, jsonpatch.Add("/spec/unschedulable", *e.cordon))
	}
	return kit.Patch{Object: node, Type: types.JSONPatchType, Data: ops.Encode(), Intent: ensure.Hash(ops), Fields: fields(names, tainted, e.cordons(node))}, true
}

// tests returns operations that make the patch fail unless the node is as it was when the decision was made.
func tests(node *corev1.Node) jsonpatch.Patch {
	cordoned := node.Spec.Unschedulable
	out := jsonpatch.Patch{jsonpatch.Test("/metadata/uid", string(node.UID)), jsonpatch.Unchanged("/spec/unschedulable", true, cordoned)}
	if len(node.Annotations) == 0 {
		return append(out, jsonpatch.Absent(annotations))
	}
	for _, name := range basis {
		value, found := node.Annotations[name]
		out = append(out, jsonpatch.Unchanged(pointer(name), value, found))
	}
	return out
}

const annotations = "/metadata/annotations"

func pointer(name string) string { return jsonpatch.Pointer("metadata", "annotations", name) }

func (e *Edit) annotate(node *corev1.Node, names []string) jsonpatch.Patch {
	var out jsonpatch.Patch
	if len(names) > 0 && len(node.Annotations) == 0 {
		out = append(out, jsonpatch.Add(annotations, map[string]string{}))
	}
	for _, name := range names {
		if value := e.annotations[name]; value != "" {
			out = append(out, jsonpatch.Add(pointer(name), value))
		} else {
			out = append(out, jsonpatch.Remove(pointer(name)))
		}
	}
	return out
}

// replaceTaints replaces the whole list of taints, which the API treats as one value, if it has not changed.
func replaceTaints(node *corev1.Node, taints []corev1.Taint) jsonpatch.Patch {
	unchanged := jsonpatch.Unchanged("/spec/taints", node.Spec.Taints, len(node.Spec.Taints) > 0)
	if len(taints) == 0 {
		return jsonpatch.Patch{unchanged, jsonpatch.Remove("/spec/taints")}
	}
	return jsonpatch.Patch{unchanged, jsonpatch.Add("/spec/taints", taints)}
}

// fields returns the paths that a patch writes, to find another manager that writes them too.
func fields(names []string, tainted, cordoned bool) *fieldpath.Set {
	set := fieldpath.NewSet()
	for _, name := range names {
		set.Insert(fieldpath.MakePathOrDie("metadata", "annotations", name))
	}
	if tainted {
		set.Insert(fieldpath.MakePathOrDie("spec", "taints"))
	}
	if cordoned {
		set.Insert(fieldpath.MakePathOrDie("spec", "unschedulable"))
	}
	return set
}
