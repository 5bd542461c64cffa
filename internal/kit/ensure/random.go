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

// createNew makes a child of random content, or fails with a conflict if there is one by now:
// an apply cannot tell.
func (a *Applier) createNew(ctx context.Context, in *intent) (Result, error) {
	object := in.object.DeepCopy()
	err := a.client.Create(ctx, object, client.FieldOwner(common.Name))
	switch {
	case apierrors.IsAlreadyExists(err):
		return Result{Ref: in.Ref}, thereByNow(in, err)
	case apierrors.IsNotFound(err):
		return Result{Ref: in.Ref}, fmt.Errorf("create %s: %s", in.Ref, err.Error()) // its namespace; see apply
	case err != nil:
		return Result{Ref: in.Ref}, fmt.Errorf("create %s: %w", in.Ref, err)
	}
	a.Writes.Record(in.GroupVersionKind, object)
	return Result{Ref: in.Ref, Action: Created}, nil
}

// thereByNow is the conflict of a child that is to be new with one that someone else has made.
func thereByNow(in *intent, why error) error {
	return apierrors.NewConflict(schema.GroupResource{Group: in.Group, Resource: in.Kind}, in.Name, why)
}

// disown has what was created belong to the applier alone. Else what it declares no more would
// stay: it would still be its creator's.
func (a *Applier) disown(ctx context.Context, in *intent) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(in.GroupVersionKind)
	if err := a.live.Get(ctx, in.ObjectKey, live); err != nil {
		return fmt.Errorf("who owns the fields of %s: %w", in.Ref, err)
	}
	decided := in.object.GetResourceVersion()
	if decided != "" && decided != live.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Group: in.Group, Resource: in.Kind}, in.Name, errors.New("it has changed since"))
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(common.Name), common.Name)
	if err != nil {
		return fmt.Errorf("who owns the fields of %s: %w", in.Ref, err)
	}
	if patch == nil {
		return nil
	}
	if err := a.client.Patch(ctx, live, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(common.Name)); err != nil {
		return fmt.Errorf("own the fields of %s: %w", in.Ref, err)
	}
	a.Writes.Record(in.GroupVersionKind, live)
	if decided != "" { // the same, with its fields owned
		in.object.SetResourceVersion(live.GetResourceVersion())
	}
	return nil
}
