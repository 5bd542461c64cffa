// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"
)

// create creates a child that does not exist.
func (a *Applier) create(ctx context.Context, owner *parent, in *intent, hold bool) (Result, error) {
	if hold {
		return Result{Ref: in.Ref, Action: Held}, nil
	}
	if gone, err := a.gone(ctx, owner); gone || err != nil {
		return Result{Ref: in.Ref, Action: Waiting}, err
	}
	if err := a.fill(in); err != nil {
		return Result{Ref: in.Ref}, err
	}
	if denied, err := (guards{a.Guards, a.scheme()}).object(ctx, owner.Object, in, nil); denied != nil || err != nil {
		return orFailed(denied, in), err
	}
	if postponed := a.postpone(in); postponed != nil {
		return *postponed, nil
	}
	result, err := a.apply(ctx, in, Created)
	if err != nil {
		a.Withdraw(in.contest())
		a.Withdraw(in.turnover())
		return result, err
	}
	a.predecessors.forget(in.contest())
	return result, nil
}

// postpone counts the creation of a child. After too many creations it returns a result to report, so that the child is
// not created now. The result is Contested if another client keeps deleting the child, or Delayed if opcrew itself
// keeps replacing it, such as a pod that ends soon after its start.
func (a *Applier) postpone(in *intent) *Result {
	what := in.hash()
	if in.child.Random {
		what = ""
	}
	if wait := a.Contest(in.contest(), what); wait > 0 {
		return &Result{
			Ref: in.Ref, Action: Contested, Again: wait,
			Message: fmt.Sprintf("Another client deletes %s again and again; opcrew does not create it again before %s", in.Ref, a.Until(wait)),
		}
	}
	if !in.child.Once {
		return nil
	}
	if wait := a.Contest(in.turnover(), what); wait > 0 {
		a.Withdraw(in.contest())
		return &Result{
			Ref: in.Ref, Action: Delayed, Again: wait,
			Message: fmt.Sprintf("%s was created %d times within a minute; opcrew creates it again at %s", in.Ref, contestLimit, a.Until(wait)),
		}
	}
	return nil
}

// fill completes the declaration of a new child. It copies the pinned part and the fields that other managers own from
// the object that the child replaces. If there is no such object, these fields get their declared values.
func (a *Applier) fill(in *intent) error {
	live := a.predecessors.of(in.contest())
	if live == nil {
		return in.restore()
	}
	// Call keep first: it computes the hash of the declaration, which must not include the values of other managers.
	in.keep(live)
	if err := in.restore(); err != nil {
		return err
	}
	heir, err := in.heir(live)
	if err == nil {
		in.object = heir
	}
	return err
}
