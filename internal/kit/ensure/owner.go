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

// Owner is the object whose children are put in place, during one reconcile.
type Owner struct {
	client.Object
	// asked reports that the API server has been asked whether it is gone.
	asked, gone bool
}

// NewOwner begins to put the children of an object in place.
func NewOwner(object client.Object) *Owner { return &Owner{Object: object} }

// gone reports whether the owner has been deleted, which its cache may not show yet: the
// garbage collector's deletions of its children can be seen earlier, and anyone who makes
// those again gives them to an owner that is no more. The API server is asked once.
func (a *Applier) gone(ctx context.Context, owner *Owner) (bool, error) {
	if owner.asked {
		return owner.gone, nil
	}
	gvk, err := apiutil.GVKForObject(owner.Object, a.scheme)
	if err != nil {
		return false, fmt.Errorf("kind of the owner: %w", err)
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(gvk)
	err = a.live.Get(ctx, client.ObjectKeyFromObject(owner), live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("is %s %s still there: %w", gvk.Kind, client.ObjectKeyFromObject(owner), err)
	}
	going := live.DeletionTimestamp != nil && owner.GetDeletionTimestamp() == nil
	owner.asked, owner.gone = true, apierrors.IsNotFound(err) || live.UID != owner.GetUID() || going
	return owner.gone, nil
}
