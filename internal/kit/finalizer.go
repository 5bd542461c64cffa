// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/api/common"
)

// addFinalizer puts a finalizer on the object, and reports whether it is there.
func (l *Loop[O, F, D]) addFinalizer(ctx context.Context, gvk schema.GroupVersionKind, object O, finalizer string, done *Outcome) bool {
	if controllerutil.ContainsFinalizer(object, finalizer) {
		return true
	}
	return l.changeMetadata(ctx, gvk, object, done, func() { controllerutil.AddFinalizer(object, finalizer) })
}

func (l *Loop[O, F, D]) removeFinalizer(ctx context.Context, gvk schema.GroupVersionKind, object O, finalizer string, done *Outcome) {
	if controllerutil.ContainsFinalizer(object, finalizer) {
		l.changeMetadata(ctx, gvk, object, done, func() { controllerutil.RemoveFinalizer(object, finalizer) })
	}
}

// changeMetadata patches the metadata of the object. Finalizers are a single list, so it needs the optimistic lock:
// without it the patch would undo what another controller has added meanwhile.
func (l *Loop[O, F, D]) changeMetadata(ctx context.Context, gvk schema.GroupVersionKind, object O, done *Outcome, change func()) bool {
	if done.held {
		done.Held++
		return false
	}
	before := object.DeepCopyObject().(client.Object)
	change()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := l.Client.Patch(ctx, object, patch, client.FieldOwner(common.Name))
	if err != nil {
		// The report is about the object as it is: while it still has its last finalizer, its status must be written.
		object.SetFinalizers(before.GetFinalizers())
		done.failWrite(fmt.Errorf("change the finalizers of %s: %w", client.ObjectKeyFromObject(object), err))
		return false
	}
	l.Children.Record(gvk, object)
	done.wrote = true
	log.FromContext(ctx).Info("Changed finalizers", "before", before.GetFinalizers(), "after", object.GetFinalizers())
	return true
}
