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

// parent is the owner of the children during one reconcile.
type parent struct {
	client.Object
	// asked is true after the API server was queried. gone is the result: the owner no longer exists.
	asked, gone bool
}

// gone reports whether the owner was deleted. The cache can show deleted children before it shows the deletion of their
// owner. Such children must not be created again, so gone queries the API server once per reconcile.
func (a *Applier) gone(ctx context.Context, owner *parent) (bool, error) {
	if owner.asked {
		return owner.gone, nil
	}
	gvk, err := apiutil.GVKForObject(owner.Object, a.scheme())
	if err != nil {
		return false, fmt.Errorf("look up the kind of the owner: %w", err)
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(gvk)
	err = a.Live.Get(ctx, client.ObjectKeyFromObject(owner), live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("check whether %s %s still exists: %w", gvk.Kind, client.ObjectKeyFromObject(owner), err)
	}
	going := live.DeletionTimestamp != nil && owner.GetDeletionTimestamp() == nil
	owner.asked, owner.gone = true, apierrors.IsNotFound(err) || live.UID != owner.GetUID() || going
	return owner.gone, nil
}
