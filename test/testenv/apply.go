// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// FieldManager is the field manager that Apply uses. It is the name that kubectl uses too.
const FieldManager = "kubectl"

// Apply applies the objects in YAML files and directories like `kubectl apply --server-side`; an unknown field is an
// error. Paths are relative to the root of the repository. Apply applies Namespaces and CRDs first, and waits for new
// CRDs. It returns the objects as the server stored them.
func (e *Env) Apply(t testing.TB, paths ...string) []*unstructured.Unstructured {
	t.Helper()
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			paths[i] = filepath.Join(e.Root, path)
		}
	}
	docs, err := manifest.Read(paths...)
	if err != nil {
		t.Fatalf("reading the objects to apply: %v", err)
	}
	slices.SortStableFunc(docs, func(a, b manifest.Document) int { return rank(a.Object) - rank(b.Object) })
	applied := make([]*unstructured.Unstructured, len(docs))
	for i, doc := range docs {
		e.ApplyObject(t, doc.Object)
		applied[i] = doc.Object
	}
	return applied
}

// ApplyObject applies one object. Afterwards obj contains what the server stored.
func (e *Env) ApplyObject(t testing.TB, obj *unstructured.Unstructured) {
	t.Helper()
	content, err := obj.MarshalJSON()
	if err != nil {
		t.Fatalf("encoding %s %s: %v", obj.GetKind(), obj.GetName(), err)
	}
	what := "the server knows " + obj.GroupVersionKind().String()
	eventually.True(t, 30*time.Second, what, func() error {
		err := e.Client.Patch(t.Context(), obj, client.RawPatch(types.ApplyPatchType, content),
			client.FieldOwner(FieldManager), client.ForceOwnership, client.FieldValidation("Strict"))
		if err != nil && !meta.IsNoMatchError(err) {
			t.Fatalf("applying %s %s: %v", obj.GetKind(), client.ObjectKeyFromObject(obj), err)
		}
		return err
	})
}

// rank returns a lower number for objects that must be applied before others.
func rank(obj *unstructured.Unstructured) int {
	order := []string{"Namespace", "CustomResourceDefinition"}
	if i := slices.Index(order, obj.GetKind()); i >= 0 {
		return i
	}
	return len(order)
}
