// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// createRandom creates a child with random content. If another process has already created the child, createRandom
// returns a conflict. An apply would overwrite the content.
func (a *Applier) createRandom(ctx context.Context, in *intent) (Result, error) {
	object := in.object.DeepCopy()
	err := a.Client.Create(ctx, object, client.FieldOwner(common.Name))
	switch {
	case apierrors.IsAlreadyExists(err):
		return Result{Ref: in.Ref}, alreadyThere(in, err)
	case apierrors.IsNotFound(err):
		// The error is not wrapped: callers treat a NotFound error as temporary, but here it means that the namespace
		// is missing.
		return Result{Ref: in.Ref}, fmt.Errorf("create %s: %s", in.Ref, err.Error())
	case err != nil:
		return Result{Ref: in.Ref}, fmt.Errorf("create %s: %w", in.Ref, err)
	}
	a.Record(in.GroupVersionKind, object)
	return Result{Ref: in.Ref, Action: Created}, nil
}

// alreadyThere returns a conflict for a child that exists, although its declaration is only valid for a child that does
// not exist.
func alreadyThere(in *intent, why error) error {
	return apierrors.NewConflict(schema.GroupResource{Group: in.Group, Resource: in.Kind}, in.Name, why)
}

// disown moves the ownership of the fields from the manager that created the child to the manager that applies it.
// Otherwise fields that opcrew no longer declares would stay, because the creator would still own them.
func (a *Applier) disown(ctx context.Context, in *intent) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(in.GroupVersionKind)
	if err := a.Live.Get(ctx, in.ObjectKey, live); err != nil {
		return fmt.Errorf("read which manager owns the fields of %s: %w", in.Ref, err)
	}
	decided := in.object.GetResourceVersion()
	if decided != "" && decided != live.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Group: in.Group, Resource: in.Kind}, in.Name, errors.New("the object has changed since opcrew decided to write it"))
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(common.Name), common.Name)
	if err != nil {
		return fmt.Errorf("read which manager owns the fields of %s: %w", in.Ref, err)
	}
	if patch == nil {
		return nil
	}
	if err := a.Client.Patch(ctx, live, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(common.Name)); err != nil {
		return fmt.Errorf("take over the fields of %s: %w", in.Ref, err)
	}
	a.Record(in.GroupVersionKind, live)
	if decided != "" { // the resource version has changed because disown has just written the object
		in.object.SetResourceVersion(live.GetResourceVersion())
	}
	return nil
}
