// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ensure creates, updates or replaces the children of owner that differ from their declaration. If hold is true, it
// changes nothing, and reports what it would change.
func (a *Applier) Ensure(ctx context.Context, owner client.Object, children []Child, hold bool) []Result {
	parent, results := &parent{Object: owner}, make([]Result, 0, len(children))
	for _, child := range children {
		result, err := a.ensure(ctx, parent, child, hold)
		result.Err = err
		results = append(results, result)
	}
	return results
}

func (a *Applier) ensure(ctx context.Context, owner *parent, child Child, hold bool) (Result, error) {
	in, err := declare(a.scheme(), owner.Object, child)
	if err != nil {
		return Result{}, err
	}
	found, err := a.find(ctx, owner, in)
	if err != nil {
		return Result{Ref: in.Ref}, err
	}
	switch {
	case found.waiting:
		return Result{Ref: in.Ref, Action: Waiting, Message: found.leaving, Again: found.again}, nil
	case found.taken != "":
		return Result{Ref: in.Ref, Action: Taken, Message: found.taken, Again: found.again}, nil
	case found.object == nil:
		return a.create(ctx, owner, in, hold)
	case child.New:
		return Result{Ref: in.Ref}, alreadyThere(in, errors.New("the object was created after opcrew decided to create it"))
	case child.Once:
		return Result{Ref: in.Ref, Action: Unchanged, Message: found.stripped}, nil
	}
	return a.update(ctx, owner.Object, in, found.object, hold)
}
