// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
)

// update applies or replaces an existing child if it differs from its declaration.
func (a *Applier) update(ctx context.Context, owner client.Object, in *intent, live client.Object, hold bool) (Result, error) {
	in.keep(live)
	drift, err := newComparer(a.scheme()).drift(in, live)
	if err != nil {
		return Result{Ref: in.Ref}, err
	}
	intentChanged := live.GetAnnotations()[common.AppliedAnnotation] != in.hash()
	switch {
	case drift == nil && !intentChanged:
		a.contests.settle(live.GetUID(), a.Clock.Now())
		return Result{Ref: in.Ref, Action: Unchanged}, nil
	case hold:
		return Result{Ref: in.Ref, Action: Held}, nil
	}
	in, denied, err := guards{a.Guards, a.scheme()}.allowed(ctx, owner, in, live)
	if denied != nil || err != nil {
		return orFailed(denied, in), err
	}
	if in.mustReplace(drift) {
		return a.replace(ctx, in, live)
	}
	if wait := a.Contest(live.GetUID(), in.hash()); wait > 0 {
		return a.contested(ctx, in, drift, wait)
	}
	action := Repaired
	if intentChanged {
		action = Applied
	}
	return a.applyOver(ctx, in, live, action)
}

// applyOver applies a child over the live object that was compared with the declaration. If that object is gone,
// nothing is applied, even if another object has its name now.
func (a *Applier) applyOver(ctx context.Context, in *intent, live client.Object, action Action) (Result, error) {
	if err := in.carry(live); err != nil {
		return Result{Ref: in.Ref}, err
	}
	// The UID prevents the apply from adopting a later object with the same name.
	in.object.SetUID(live.GetUID())
	if in.child.DecidedOn != "" {
		in.object.SetResourceVersion(in.child.DecidedOn)
	}
	result, err := a.apply(ctx, in, action)
	if err != nil {
		a.Withdraw(live.GetUID())
	}
	return result, err
}

func (a *Applier) apply(ctx context.Context, in *intent, action Action) (Result, error) {
	if in.child.Random && action == Created {
		return a.createRandom(ctx, in)
	}
	if in.child.Random && action == Applied {
		if err := a.disown(ctx, in); err != nil {
			return Result{Ref: in.Ref}, err
		}
	}
	ac := client.ApplyConfigurationFromUnstructured(in.object)
	err := a.Client.Apply(ctx, ac, client.FieldOwner(common.Name), client.ForceOwnership)
	switch {
	case apierrors.IsNotFound(err):
		// An apply creates a missing object, so NotFound means that the namespace is missing. Callers treat a NotFound
		// error as temporary, but a missing namespace is not. Therefore only the text of the error is returned.
		return Result{Ref: in.Ref}, fmt.Errorf("apply %s: %s", in.Ref, err.Error())
	case err != nil:
		return Result{Ref: in.Ref}, fmt.Errorf("apply %s: %w", in.Ref, err)
	}
	a.Record(in.GroupVersionKind, in.object)
	return Result{Ref: in.Ref, Action: action}, nil
}

// contested returns a result that names the other manager that keeps undoing changes of the child.
func (a *Applier) contested(ctx context.Context, in *intent, drift *fieldpath.Set, wait time.Duration) (Result, error) {
	current := &metav1.PartialObjectMetadata{}
	current.SetGroupVersionKind(in.GroupVersionKind)
	if err := a.Live.Get(ctx, in.ObjectKey, current); err != nil {
		return Result{Ref: in.Ref}, fmt.Errorf("read which manager changes %s: %w", in.Ref, err)
	}
	manager := inWords(otherManager(current.GetManagedFields(), drift))
	return Result{
		Ref: in.Ref, Action: Contested, Again: wait,
		Message: fmt.Sprintf("%s is changed back again and again by %s; opcrew leaves it unchanged until %s", in.Ref, manager, a.Until(wait)),
	}, nil
}
