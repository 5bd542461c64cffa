// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// OwnerByLabels returns a function that enqueues the object to which a pod, ReplicaSet or claim belongs. It uses labels,
// because the direct owner of such an object is a Deployment or StatefulSet. app is the value of the label
// app.kubernetes.io/name; the label nameLabel holds the name of the object.
func OwnerByLabels(app, nameLabel string) handler.MapFunc {
	return func(_ context.Context, child client.Object) []reconcile.Request {
		labels := child.GetLabels()
		if labels["app.kubernetes.io/name"] != app || labels[nameLabel] == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: child.GetNamespace(), Name: labels[nameLabel]}}}
	}
}

// ObjectsIn returns a function that enqueues all objects of a kind in a namespace. list is an empty list of the kind.
func ObjectsIn(reader client.Reader, list client.ObjectList) handler.MapFunc {
	return func(ctx context.Context, ns client.Object) []reconcile.Request {
		found := list.DeepCopyObject().(client.ObjectList)
		if err := reader.List(ctx, found, client.InNamespace(ns.GetName()), client.UnsafeDisableDeepCopy); err != nil {
			return nil // the cache has stopped
		}
		var out []reconcile.Request
		_ = meta.EachListItem(found, func(item runtime.Object) error { // no function returns an error here
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(item.(client.Object))})
			return nil
		})
		return out
	}
}
