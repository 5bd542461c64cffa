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

// addFinalizer adds a finalizer to the object, and reports whether the object has it now.
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

// changeMetadata patches the metadata of the object. A merge patch replaces the whole list of finalizers. The
// optimistic lock prevents the patch from removing a finalizer that another controller has added meanwhile.
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
		// The patch failed, so the object still has the finalizer, and the loop must still write its status.
		object.SetFinalizers(before.GetFinalizers())
		done.failWrite(fmt.Errorf("change the finalizers of %s: %w", client.ObjectKeyFromObject(object), err))
		return false
	}
	l.Children.Record(gvk, object)
	done.wrote = true
	log.FromContext(ctx).Info("Changed finalizers", "before", before.GetFinalizers(), "after", object.GetFinalizers())
	return true
}
