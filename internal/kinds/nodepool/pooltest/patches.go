// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pooltest

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4" // the library with which the API server applies patches
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
)

// owned returns the fields that opcrew was the last client to write.
func owned(node *corev1.Node) *fieldpath.Set {
	for _, e := range node.ManagedFields {
		set := &fieldpath.Set{}
		if err := set.FromJSON(e.FieldsV1.GetRawReader()); err == nil && e.Manager == common.Name {
			return set
		}
	}
	return nil
}

// Written returns the fields that differ between two states of a node.
func Written(before, after *corev1.Node) *fieldpath.Set {
	set := fieldpath.NewSet()
	for field, maps := range map[string][2]map[string]string{"labels": {before.Labels, after.Labels}, "annotations": {before.Annotations, after.Annotations}} {
		for key, value := range maps[1] {
			if old, ok := maps[0][key]; !ok || old != value {
				set.Insert(fieldpath.MakePathOrDie("metadata", field, key))
			}
		}
	}
	if !slices.Equal(before.Spec.Taints, after.Spec.Taints) && len(after.Spec.Taints) > 0 {
		set.Insert(fieldpath.MakePathOrDie("spec", "taints"))
	}
	return set
}

func Applied(t testing.TB, node *corev1.Node, patch []byte) *corev1.Node {
	t.Helper()
	out, err := TryPatch(node, patch)
	if err != nil {
		t.Fatalf("the API server refuses the patch %s: %v", patch, err)
	}
	owned := cmp.Or(owned(node), fieldpath.NewSet()).Union(Written(node, out)).Intersection(Written(&corev1.Node{}, out))
	raw, err := owned.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	out.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: common.Name, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(string(raw)),
	}}
	return out
}

func TryPatch(node *corev1.Node, patch []byte) (*corev1.Node, error) {
	before, err := json.Marshal(node)
	if err != nil {
		return nil, err
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	after, err := decoded.Apply(before)
	if err != nil {
		return nil, err
	}
	out := &corev1.Node{}
	return out, json.Unmarshal(after, out)
}
