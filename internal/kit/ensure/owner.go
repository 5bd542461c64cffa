// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// parent is the owner of children, during one reconcile.
type parent struct {
	client.Object
	// asked: the API server was asked whether it is gone.
	asked, gone bool
}

// gone reports whether the owner was deleted, which the cache may not show yet: it can show earlier that the
// garbage collector deleted the children, and these must not be created again. The API server is asked once.
func (a *Applier) gone(ctx context.Context, owner *parent) (bool, error) {
	if owner.asked {
		return owner.gone, nil
	}
	gvk, err := apiutil.GVKForObject(owner.Object, a.scheme())
	if err != nil {
		return false, fmt.Errorf("kind of the owner: %w", err)
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(gvk)
	err = a.Live.Get(ctx, client.ObjectKeyFromObject(owner), live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("is %s %s still there: %w", gvk.Kind, client.ObjectKeyFromObject(owner), err)
	}
	going := live.DeletionTimestamp != nil && owner.GetDeletionTimestamp() == nil
	owner.asked, owner.gone = true, apierrors.IsNotFound(err) || live.UID != owner.GetUID() || going
	return owner.gone, nil
}
