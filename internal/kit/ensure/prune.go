// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/opcrew/opcrew/internal/guard"
)

// Prune deletes the children of owner that are not declared, except those for which stays (may be nil) returns true.
// kinds holds an empty list of each kind to prune. If hold is true, Prune only reports what it would delete. If a child
// has changed since the cache showed it, Prune keeps it and returns a conflict.
func (a *Applier) Prune(ctx context.Context, owner client.Object, declared []Child, kinds []client.ObjectList, stays func(client.Object) bool, hold bool) ([]Result, error) {
	keep := map[Ref]bool{}
	for _, child := range declared {
		in, err := declare(a.scheme(), owner, child)
		if err != nil {
			return nil, err
		}
		keep[in.Ref] = true
	}
	var results []Result
	for _, kind := range kinds {
		pruned, err := a.pruneKind(ctx, owner, kind, hold, func(ref Ref, object client.Object) bool {
			return keep[ref] || stays != nil && stays(object)
		})
		results = append(results, pruned...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

func (a *Applier) pruneKind(ctx context.Context, owner client.Object, kind client.ObjectList, hold bool, stays func(Ref, client.Object) bool) ([]Result, error) {
	list := kind.DeepCopyObject().(client.ObjectList)
	// The cache returns this list without copying the objects, because copies would cost much memory in large
	// namespaces. This code does not change the objects.
	if err := a.Client.List(ctx, list, client.InNamespace(owner.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list children to prune: %w", err)
	}
	var results []Result
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object := item.(client.Object)
		gvk, err := apiutil.GVKForObject(object, a.scheme())
		if err != nil {
			return fmt.Errorf("look up the kind of a child to prune: %w", err)
		}
		ref := Ref{gvk, client.ObjectKeyFromObject(object)}
		if !guard.Owns(owner, object) || copied(owner, object) || object.GetDeletionTimestamp() != nil || stays(ref, object) {
			return nil
		}
		result, err := a.prune(ctx, owner, ref, object, hold)
		results = append(results, result)
		return err
	})
	return results, err
}

// copied reports whether an object has the owner label only because a user copied it. A child in the owner's namespace
// always has a controller reference, so an object without one is not deleted.
func copied(owner, object client.Object) bool {
	return owner.GetNamespace() == object.GetNamespace() && !metav1.IsControlledBy(object, owner)
}

// prune deletes one child. It also removes the last creation of the child from the count, so that a later creation does
// not look as if another client had deleted the child.
func (a *Applier) prune(ctx context.Context, owner client.Object, ref Ref, object client.Object, hold bool) (Result, error) {
	if hold {
		return Result{Ref: ref, Action: Held}, nil
	}
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := a.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version}, client.PropagationPolicy("Background"))
	if client.IgnoreNotFound(err) != nil {
		return Result{Ref: ref}, fmt.Errorf("prune %s: %w", ref, err)
	}
	a.Forget(ref.GroupVersionKind, ref.ObjectKey)
	if err == nil {
		a.Withdraw(contestOver(owner.GetUID(), ref))
	}
	return Result{Ref: ref, Action: Pruned}, nil
}
