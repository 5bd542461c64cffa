// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
)

// Action says what was done about one child.
type Action string

// What can be done about a child. Held is what would have been done while nothing
// may be changed; Taken and Contested are what must not be done, Delayed what is done later.
const (
	Unchanged Action = "Unchanged"
	Created   Action = "Created"
	Applied   Action = "Applied"
	Repaired  Action = "Repaired"
	Replaced  Action = "Replaced"
	Pruned    Action = "Pruned"
	Held      Action = "Held"
	Waiting   Action = "Waiting"
	Taken     Action = "Taken"
	Contested Action = "Contested"
	Delayed   Action = "Delayed"
)

// Result is what became of one child.
type Result struct {
	Ref     Ref
	Action  Action
	Message string        // for Taken, Contested and Delayed: what is in the way, and what next; for Unchanged: what keeps it from being followed
	Again   time.Duration // when to look again, 0: when something changes
}

// Applier puts children in place. Its reads come from the cache, except where a
// mistake would overwrite someone else's object.
type Applier struct {
	client   client.Client
	live     client.Reader
	scheme   *runtime.Scheme
	compare  *comparer
	Writes   *Writes
	Contests *Contests

	predecessors *predecessors
}

// NewApplier returns an Applier that writes with c and reads past the cache with live.
func NewApplier(c client.Client, live client.Reader, clock clock.PassiveClock) *Applier {
	return &Applier{
		client:   c,
		live:     live,
		scheme:   c.Scheme(),
		compare:  newComparer(c.Scheme()),
		Writes:   NewWrites(),
		Contests: NewContests(clock),

		predecessors: newPredecessors(clock),
	}
}

// Ensure puts one child of owner in place. With hold it only reports whether something
// would change. Errors are those of the API server, with the child's name.
func (a *Applier) Ensure(ctx context.Context, owner *Owner, child Child, hold bool) (Result, error) {
	in, err := declare(a.scheme, owner.Object, child)
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
	case found.stranger != "":
		return Result{Ref: in.Ref, Action: Taken, Message: found.stranger, Again: found.again}, nil
	case found.object == nil:
		return a.create(ctx, owner, in, hold)
	case child.New:
		return Result{Ref: in.Ref}, thereByNow(in, errors.New("it was made since this was decided"))
	case child.Once:
		return Result{Ref: in.Ref, Action: Unchanged, Message: found.stripped}, nil
	}
	return a.update(ctx, in, found.object, hold)
}

// create applies a child that is not there.
func (a *Applier) create(ctx context.Context, owner *Owner, in *intent, hold bool) (Result, error) {
	if hold {
		return Result{Ref: in.Ref, Action: Held}, nil
	}
	if gone, err := a.gone(ctx, owner); gone || err != nil {
		return Result{Ref: in.Ref, Action: Waiting}, err
	}
	if err := a.fill(in); err != nil {
		return Result{Ref: in.Ref}, err
	}
	if postponed := a.postpone(in); postponed != nil {
		return *postponed, nil
	}
	result, err := a.apply(ctx, in, Created)
	if err != nil {
		a.Contests.Withdraw(in.contest())
		a.Contests.Withdraw(in.turnover())
		return result, err
	}
	a.predecessors.forget(in.contest())
	return result, nil
}

// postpone counts the creation of a child, and returns what is reported instead of it if there
// were too many: a contest if others delete the child, and a delay if the operator replaces a
// child that cannot be changed, such as a pod that ends as soon as it has begun.
func (a *Applier) postpone(in *intent) *Result {
	what := in.hash()
	if in.child.Random {
		what = ""
	}
	if wait := a.Contests.Enter(in.contest(), what); wait > 0 {
		return &Result{
			Ref: in.Ref, Action: Contested, Again: wait,
			Message: fmt.Sprintf("%s is deleted again and again; it is left alone until %s", in.Ref, a.Contests.Until(wait)),
		}
	}
	if !in.child.Once {
		return nil
	}
	if wait := a.Contests.Enter(in.turnover(), what); wait > 0 {
		a.Contests.Withdraw(in.contest())
		return &Result{
			Ref: in.Ref, Action: Delayed, Again: wait,
			Message: fmt.Sprintf("%s was created %d times within a minute; it is created again at %s", in.Ref, contestLimit, a.Contests.Until(wait)),
		}
	}
	return nil
}

// fill gives a child that is not there what is not declared of it: the values that the one
// had which it takes the place of, or else those that it begins with.
func (a *Applier) fill(in *intent) error {
	live := a.predecessors.of(in.contest())
	if live == nil {
		return in.restore()
	}
	in.keep(live) // signs, and values of others are not signed
	if err := in.restore(); err != nil {
		return err
	}
	heir, err := in.heir(live)
	if err == nil {
		in.object = heir
	}
	return err
}

// update brings a child that is there to what is declared, if it is not so already.
func (a *Applier) update(ctx context.Context, in *intent, live client.Object, hold bool) (Result, error) {
	in.keep(live)
	drift, err := a.compare.drift(in, live)
	if err != nil {
		return Result{Ref: in.Ref}, err
	}
	intentChanged := live.GetAnnotations()[common.AppliedAnnotation] != in.hash()
	switch {
	case drift == nil && !intentChanged:
		a.Contests.Settle(live.GetUID())
		return Result{Ref: in.Ref, Action: Unchanged}, nil
	case hold:
		return Result{Ref: in.Ref, Action: Held}, nil
	case in.mustReplace(drift):
		return a.replace(ctx, in, live)
	}
	if wait := a.Contests.Enter(live.GetUID(), in.hash()); wait > 0 {
		return a.contested(ctx, in, drift, wait)
	}
	action := Repaired
	if intentChanged {
		action = Applied
	}
	if err := in.carry(live); err != nil {
		return Result{Ref: in.Ref}, err
	}
	// Should the object be gone by now, the apply must not adopt a later one of its name.
	in.object.SetUID(live.GetUID())
	if in.child.DecidedOn != "" {
		in.object.SetResourceVersion(in.child.DecidedOn)
	}
	result, err := a.apply(ctx, in, action)
	if err != nil {
		a.Contests.Withdraw(live.GetUID())
	}
	return result, err
}

func (a *Applier) apply(ctx context.Context, in *intent, action Action) (Result, error) {
	if in.child.Random && action == Created {
		return a.createNew(ctx, in)
	}
	if in.child.Random && action == Applied {
		if err := a.disown(ctx, in); err != nil {
			return Result{Ref: in.Ref}, err
		}
	}
	ac := client.ApplyConfigurationFromUnstructured(in.object)
	err := a.client.Apply(ctx, ac, client.FieldOwner(common.Name), client.ForceOwnership)
	switch {
	case apierrors.IsNotFound(err):
		// An apply creates, so it is the namespace that is missing. That does not pass by
		// itself, as callers take not found to do: they are told the words only.
		return Result{Ref: in.Ref}, fmt.Errorf("apply %s: %s", in.Ref, err.Error())
	case err != nil:
		return Result{Ref: in.Ref}, fmt.Errorf("apply %s: %w", in.Ref, err)
	}
	a.Writes.Record(in.GroupVersionKind, in.object)
	return Result{Ref: in.Ref, Action: action}, nil
}

// replace removes exactly the object that was looked at: not a later one of the same
// name, and not one that has changed since.
func (a *Applier) replace(ctx context.Context, in *intent, live client.Object) (Result, error) {
	if err := a.wouldCreate(ctx, in, live); err != nil {
		return Result{Ref: in.Ref}, err
	}
	uid, version := live.GetUID(), live.GetResourceVersion()
	propagation := client.PropagationPolicy(metav1.DeletePropagationBackground)
	if in.child.Orphan {
		propagation = client.PropagationPolicy(metav1.DeletePropagationOrphan)
	}
	err := a.client.Delete(ctx, live, client.Preconditions{UID: &uid, ResourceVersion: &version}, propagation)
	if client.IgnoreNotFound(err) != nil {
		return Result{Ref: in.Ref}, fmt.Errorf("replace %s: %w", in.Ref, err)
	}
	a.Writes.Forget(in.GroupVersionKind, in.ObjectKey)
	a.predecessors.remember(in.contest(), live)
	return Result{Ref: in.Ref, Action: Replaced}, nil
}

// wouldCreate asks the API server whether it would take the new object, under a name of
// its own because the old one is still there: a refusal must not cost the old one. The name
// is short whatever the child's is: some kinds refuse one of more than 63 characters.
func (a *Applier) wouldCreate(ctx context.Context, in *intent, live client.Object) error {
	trial, err := in.heir(live)
	if err != nil {
		return err
	}
	trial.SetName("trial-" + in.object.GetLabels()[common.OwnerLabel])
	err = a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(trial),
		client.FieldOwner(common.Name), client.ForceOwnership, client.DryRunAll)
	if err != nil {
		return fmt.Errorf("try the new %s: %w", in.Ref, err)
	}
	return nil
}

// mustReplace reports whether a field differs that the API server does not let change.
// It asks the drift and not the values, which are written in more ways than one.
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

// overlap reports whether one of two paths leads to the other.
func overlap(fields []string, path fieldpath.Path) bool {
	for i := range min(len(fields), len(path)) {
		if path[i].FieldName == nil || *path[i].FieldName != fields[i] {
			return false
		}
	}
	return true
}

// contested reports who keeps changing the child back.
func (a *Applier) contested(ctx context.Context, in *intent, drift *fieldpath.Set, wait time.Duration) (Result, error) {
	current := &metav1.PartialObjectMetadata{}
	current.SetGroupVersionKind(in.GroupVersionKind)
	if err := a.live.Get(ctx, in.ObjectKey, current); err != nil {
		return Result{Ref: in.Ref}, fmt.Errorf("who changes %s: %w", in.Ref, err)
	}
	manager := cmp.Or(OtherManager(current.GetManagedFields(), drift), "somebody")
	return Result{
		Ref: in.Ref, Action: Contested, Again: wait,
		Message: fmt.Sprintf("%s is changed back again and again by %q; it is left alone until %s", in.Ref, manager, a.Contests.Until(wait)),
	}, nil
}

// Refused reports whether an error is the API server's refusal of what was asked (a
// quota, an admission rule, a missing right, an invalid value), as opposed to a
// conflict or a server in trouble, which pass.
func Refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsMethodNotSupported(err)
}
