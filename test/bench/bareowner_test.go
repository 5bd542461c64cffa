// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/opcrew/opcrew/api/common"
)

// blueprints contains the objects that opcrew wrote in some namespaces, reduced to the fields that opcrew set.
type blueprints struct {
	owner
	// children maps the UID of an owner to its children. shared maps a namespace to the objects that all owners in it
	// share.
	children map[types.UID][]*unstructured.Unstructured
	shared   map[string][]*unstructured.Unstructured
	objects  []*unstructured.Unstructured
}

// bareClient repeats opcrew's writes in other namespaces without an operator: the same objects, the same applies, and
// as many statuses. It writes each shared object of a namespace only once. Then it waits for the pods.
func (o owner) bareClient(t *testing.T, tb *table, from []string) floor {
	t.Helper()
	plans, namespaces, begun := o.blueprints(t, from), someNamespaces(t, o.namespaces), &beginnings{}
	ready := observe(t, o.pods, o.serves, namespaces...)
	defer ready.stop()
	got := measureFloor(t, func(c client.Client) {
		// Create all custom resources first. In the measurement of opcrew, too, all of them exist before the first
		// child.
		made := o.makeAll(t, c, namespaces, begun)
		concurrently(t, len(from), func(ctx context.Context, i int) error {
			return applyAll(ctx, c, plans.shared[from[i]], namespaces[i], nil)
		})
		concurrently(t, *objects, func(ctx context.Context, i int) error { return plans.build(ctx, c, i, made[i]) })
		if _, ok := ready.done(*objects); !ok {
			t.Fatal("expected the pods of every object of the bare client to be ready")
		}
	})
	tb.time(readyTime, bare, got.took, got.took)
	// Count only the writes of children and statuses, not the creation of the custom resources.
	tb.set(readyWrites, bare, "%.2f", float64(got.writes-*objects)/float64(*objects))
	tb.set(readySince, bare, "%s", ready.since(begun.at))
	return got
}

// blueprints reads the children of the objects, and keeps only the fields that opcrew owns.
func (o owner) blueprints(t *testing.T, from []string) *blueprints {
	t.Helper()
	extractor, err := metav1ac.NewUnstructuredExtractor(discovery.NewDiscoveryClientForConfigOrDie(env.Config))
	if err != nil {
		t.Fatal(err)
	}
	b := &blueprints{owner: o, children: map[types.UID][]*unstructured.Unstructured{}, shared: map[string][]*unstructured.Unstructured{}}
	for _, kind := range append(o.childKinds, o.shared...) {
		for _, child := range listAll(t, kind, from) {
			declared, err := extractor.Extract(&child, common.Name)
			if err != nil {
				t.Fatal(err)
			}
			if by := metav1.GetControllerOf(&child); by != nil {
				b.children[by.UID] = append(b.children[by.UID], declared)
			} else if child.GetLabels()[common.OwnerLabel] != "" {
				b.shared[child.GetNamespace()] = append(b.shared[child.GetNamespace()], declared)
			}
		}
	}
	b.objects = make([]*unstructured.Unstructured, *objects)
	concurrently(t, *objects, func(ctx context.Context, i int) error {
		object := o.numbered(from, i)
		b.objects[i] = &unstructured.Unstructured{}
		b.objects[i].SetGroupVersionKind(gvkOf(object))
		return env.Client.Get(ctx, client.ObjectKeyFromObject(object), b.objects[i])
	})
	return b
}

func listAll(t *testing.T, kind schema.GroupVersionKind, namespaces []string) []unstructured.Unstructured {
	t.Helper()
	var out []unstructured.Unstructured
	for _, ns := range namespaces {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := env.Client.List(t.Context(), list, client.InNamespace(ns)); err != nil {
			t.Fatal(err)
		}
		out = append(out, list.Items...)
	}
	return out
}

// build repeats, for a copy of object i in another namespace, the writes that opcrew made for that object.
func (b *blueprints) build(ctx context.Context, c client.Client, i int, copied client.Object) error {
	gvk := gvkOf(copied)
	by := &metav1.OwnerReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: copied.GetName(), UID: copied.GetUID(),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
	if err := applyAll(ctx, c, b.children[b.objects[i].GetUID()], copied.GetNamespace(), by); err != nil {
		return err
	}
	return b.report(ctx, c, b.objects[i], copied)
}

func applyAll(ctx context.Context, c client.Client, children []*unstructured.Unstructured, namespace string, by *metav1.OwnerReference) error {
	for _, child := range children {
		child = child.DeepCopy()
		child.SetNamespace(namespace)
		child.SetOwnerReferences(nil)
		if by != nil {
			child.SetOwnerReferences([]metav1.OwnerReference{*by})
		}
		child.SetResourceVersion("")
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(child), client.FieldOwner(common.Name), client.ForceOwnership); err != nil {
			return err
		}
	}
	return nil
}

// report writes the status of the copy as often as opcrew does. The status has the same size as the original.
func (b *blueprints) report(ctx context.Context, c client.Client, from *unstructured.Unstructured, copied client.Object) error {
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(from.GroupVersionKind())
	now.SetNamespace(copied.GetNamespace())
	now.SetName(copied.GetName())
	for i := range b.statuses {
		before := now.DeepCopy()
		now.Object["status"] = from.DeepCopy().Object["status"]
		if err := unstructured.SetNestedField(now.Object, int64(i), "status", "observedGeneration"); err != nil {
			return err
		}
		if err := c.Status().Patch(ctx, now, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	return nil
}

func gvkOf(object client.Object) schema.GroupVersionKind {
	gvk, err := apiutil.GVKForObject(object, env.Client.Scheme())
	if err != nil {
		panic(err) // cannot happen: the scheme contains all measured kinds
	}
	return gvk
}

func kindOf(object client.Object) string { return gvkOf(object).Kind }
