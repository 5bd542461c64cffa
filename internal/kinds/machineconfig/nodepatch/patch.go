// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepatch

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// test is the operation of a JSON patch that refuses the patch if a value differs.
const test = "test"

// operation is one operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

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
		ops = append(ops, operation{"add", "/spec/unschedulable", *e.cordon})
	}
	data, err := json.Marshal(ops)
	if err != nil { // cannot happen with strings and taints
		panic(err)
	}
	return kit.Patch{Object: node, Type: types.JSONPatchType, Data: data, Intent: ensure.Hash(ops), Fields: fields(names, tainted, e.cordons(node))}, true
}

// tests returns operations that make the patch fail unless the node is as it was when the decision was made.
func tests(node *corev1.Node) []operation {
	out := []operation{{test, "/metadata/uid", string(node.UID)}, {test, "/spec/unschedulable", nilIf(!node.Spec.Unschedulable, true)}}
	if len(node.Annotations) == 0 {
		return append(out, operation{test, annotations, nil})
	}
	for _, name := range basis {
		value, found := node.Annotations[name]
		out = append(out, operation{test, pointer(name), nilIf(!found, value)})
	}
	return out
}

const annotations = "/metadata/annotations"

func nilIf(absent bool, value any) any {
	if absent {
		return nil
	}
	return value
}

func pointer(name string) string {
	return annotations + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func (e *Edit) annotate(node *corev1.Node, names []string) []operation {
	var out []operation
	if len(names) > 0 && len(node.Annotations) == 0 {
		out = append(out, operation{"add", annotations, map[string]string{}})
	}
	for _, name := range names {
		if value := e.annotations[name]; value != "" {
			out = append(out, operation{"add", pointer(name), value})
		} else {
			out = append(out, operation{Op: "remove", Path: pointer(name)})
		}
	}
	return out
}

// replaceTaints replaces the whole list of taints, which the API treats as one value, if it has not changed.
func replaceTaints(node *corev1.Node, taints []corev1.Taint) []operation {
	unchanged := operation{test, "/spec/taints", nilIf(len(node.Spec.Taints) == 0, node.Spec.Taints)}
	if len(taints) == 0 {
		return []operation{unchanged, {Op: "remove", Path: "/spec/taints"}}
	}
	return []operation{unchanged, {"add", "/spec/taints", taints}}
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
