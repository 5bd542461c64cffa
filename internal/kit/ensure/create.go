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

// postpone counts the creation of a child. After too many creations it returns a result to report instead. If another
// client keeps deleting the child, that is a contest. If opcrew itself keeps replacing it, such as a pod that ends soon
// after its start, the creation is delayed.
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

// fill sets the values that opcrew does not declare. It takes them from the object that the child replaces. If there is
// none, it uses the declared initial values.
func (a *Applier) fill(in *intent) error {
	live := a.predecessors.of(in.contest())
	if live == nil {
		return in.restore()
	}
	in.keep(live) // keep also computes the hash, without the values of other managers
	if err := in.restore(); err != nil {
		return err
	}
	heir, err := in.heir(live)
	if err == nil {
		in.object = heir
	}
	return err
}
