// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
)

// replace deletes the live child that was compared with its declaration. If that object has changed since, or another
// object now has its name, nothing is deleted. opcrew creates the new child when the old object is gone.
func (a *Applier) replace(ctx context.Context, in *intent, live client.Object) (Result, error) {
	if err := a.wouldCreate(ctx, in, live); err != nil {
		return Result{Ref: in.Ref}, err
	}
	uid, version := live.GetUID(), live.GetResourceVersion()
	propagation := client.PropagationPolicy(metav1.DeletePropagationBackground)
	if in.child.Orphan {
		propagation = client.PropagationPolicy(metav1.DeletePropagationOrphan)
	}
	err := a.Client.Delete(ctx, live, client.Preconditions{UID: &uid, ResourceVersion: &version}, propagation)
	if client.IgnoreNotFound(err) != nil {
		return Result{Ref: in.Ref}, fmt.Errorf("replace %s: %w", in.Ref, err)
	}
	a.Forget(in.GroupVersionKind, in.ObjectKey)
	a.predecessors.remember(in.contest(), live, a.Clock.Now())
	return Result{Ref: in.Ref, Action: Replaced}, nil
}

// wouldCreate checks with a dry run that the API server would accept the new object, before the old one is deleted. The
// name in the dry run differs, because the old object still exists. It is short, because some kinds allow at most 63
// characters.
func (a *Applier) wouldCreate(ctx context.Context, in *intent, live client.Object) error {
	trial, err := in.heir(live)
	if err != nil {
		return err
	}
	trial.SetName("trial-" + in.object.GetLabels()[common.OwnerLabel])
	err = a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(trial),
		client.FieldOwner(common.Name), client.ForceOwnership, client.DryRunAll)
	if err != nil {
		return fmt.Errorf("check the new %s with a dry run: %w", in.Ref, err)
	}
	return nil
}

// mustReplace reports whether an immutable field differs. It examines the drift instead of the values, because one
// value can be written in several ways.
func (in *intent) mustReplace(drift *fieldpath.Set) bool {
	if drift == nil {
		return false
	}
	replace := false
	drift.Iterate(func(changed fieldpath.Path) {
		for _, path := range in.child.ReplaceOn {
			replace = replace || overlap(split(path), changed)
		}
	})
	return replace
}

// overlap reports whether one of two paths is a prefix of the other.
func overlap(fields []string, path fieldpath.Path) bool {
	for i := range min(len(fields), len(path)) {
		if path[i].FieldName == nil || *path[i].FieldName != fields[i] {
			return false
		}
	}
	return true
}
