// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// act is the only place that writes, status apart. While the object is paused it
// counts what it would have written.
func (l *Loop[O, F]) act(ctx context.Context, gvk schema.GroupVersionKind, object O, plan Plan) Outcome {
	by := pausedBy(object, plan)
	done := Outcome{Paused: by != "", PausedBy: by, held: plan.Hold || by != ""}
	if plan.Finalizer != "" && !l.hold(ctx, gvk, object, plan.Finalizer, &done) && !done.held {
		return done
	}
	l.children(ctx, object, plan, &done)
	for _, patch := range plan.Patches {
		l.patch(ctx, patch, &done)
	}
	// After a failure or a conflict the rest of the plan would stand on an old view.
	if done.Err == nil && !done.retry {
		l.conclude(ctx, gvk, object, plan, &done)
	}
	l.aside(ctx, object, plan.Aside, &done)
	return done
}

// conclude does what may only follow when all before it was done.
func (l *Loop[O, F]) conclude(ctx context.Context, gvk schema.GroupVersionKind, object O, plan Plan, done *Outcome) {
	if plan.Step != nil && !l.step(ctx, plan.Step, done) && !done.held {
		return
	}
	if plan.Release != "" {
		l.release(ctx, gvk, object, plan.Release, done)
	}
	if done.Err == nil && !done.retry && !done.held {
		l.tell(object, plan.Events)
	}
}

// step takes the plan's step, and reports whether it was taken.
func (l *Loop[O, F]) step(ctx context.Context, step *Step, done *Outcome) bool {
	if done.held && !step.Ends {
		done.Held++
		return false
	}
	err := step.Do(ctx)
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrNotNow):
		done.retry = true
	default:
		done.fail(fmt.Errorf("%s: %w", step.Name, err))
	}
	return false
}

// hold puts the finalizer on before anything is done that it stands for.
func (l *Loop[O, F]) hold(ctx context.Context, gvk schema.GroupVersionKind, object O, finalizer string, done *Outcome) bool {
	if controllerutil.ContainsFinalizer(object, finalizer) {
		return true
	}
	return l.metadata(ctx, gvk, object, done, func() { controllerutil.AddFinalizer(object, finalizer) })
}

func (l *Loop[O, F]) release(ctx context.Context, gvk schema.GroupVersionKind, object O, finalizer string, done *Outcome) {
	if controllerutil.ContainsFinalizer(object, finalizer) {
		l.metadata(ctx, gvk, object, done, func() { controllerutil.RemoveFinalizer(object, finalizer) })
	}
}

// metadata changes the object's own metadata. Finalizers are one list, hence the
// lock: without it a patch would undo what another controller added meanwhile.
func (l *Loop[O, F]) metadata(ctx context.Context, gvk schema.GroupVersionKind, object O, done *Outcome, change func()) bool {
	if done.held {
		done.Held++
		return false
	}
	before := object.DeepCopyObject().(client.Object)
	change()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := l.Client.Patch(ctx, object, patch, client.FieldOwner(common.Name))
	if err != nil {
		// What is reported next is about the object as it is: one that still has its last
		// finalizer has a status to write.
		object.SetFinalizers(before.GetFinalizers())
		l.failed(done, fmt.Errorf("finalizer of %s: %w", client.ObjectKeyFromObject(object), err))
		return false
	}
	l.Writes().Record(gvk, object)
	return true
}

func (l *Loop[O, F]) children(ctx context.Context, object O, plan Plan, done *Outcome) {
	owner := ensure.NewOwner(object)
	for _, child := range plan.Children {
		result, err := l.Children.Ensure(ctx, owner, child, done.held)
		done.Results = append(done.Results, result)
		done.lookAgain(result.Again)
		if err != nil {
			l.failed(done, err)
		}
	}
	if len(plan.Prune) > 0 && done.Err == nil && done.settled() {
		results, err := l.Children.Prune(ctx, object, plan.Children, plan.Prune, plan.Stays, done.held)
		done.Results = append(done.Results, results...)
		if err != nil {
			l.failed(done, err)
		}
	}
	for _, result := range done.Results {
		l.count(result, done)
	}
}

func (l *Loop[O, F]) patch(ctx context.Context, patch Patch, done *Outcome) {
	if done.held {
		done.Held++
		return
	}
	if wait := l.Children.Contests.Enter(patch.contest(), patch.Intent); wait > 0 {
		done.lookAgain(wait)
		done.Contested = fmt.Sprintf("%s is changed back again and again by %q; it is left alone until %s",
			patch.Object.GetName(), l.rival(ctx, patch), l.Children.Contests.Until(wait))
		return
	}
	gvk, err := l.Client.GroupVersionKindFor(patch.Object)
	if err != nil {
		done.fail(err)
		return
	}
	// Only the metadata is asked back: a Node of 50 images is large, and the cache has it anyway.
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(gvk)
	object.SetNamespace(patch.Object.GetNamespace())
	object.SetName(patch.Object.GetName())
	if err := l.Client.Patch(ctx, object, client.RawPatch(patch.Type, patch.Data), client.FieldOwner(common.Name)); err != nil {
		l.Children.Contests.Withdraw(patch.contest())
		l.failed(done, fmt.Errorf("patch %s: %w", patch.Object.GetName(), err))
		return
	}
	l.Writes().Record(gvk, object)
	l.Metrics.wrote(gvk.Kind, "Patched")
}

// contest names what a patch may be contested over: the fields that it writes, so that
// one label which someone fights over holds up nothing else on the object.
func (p Patch) contest() types.UID {
	if p.Fields == nil {
		return p.Object.GetUID()
	}
	return p.Object.GetUID() + types.UID(" "+p.Fields.String())
}

// rival names who else writes the fields of a patch.
func (l *Loop[O, F]) rival(ctx context.Context, patch Patch) string {
	current := patch.Object.DeepCopyObject().(client.Object)
	if err := l.Live.Get(ctx, client.ObjectKeyFromObject(current), current); err != nil {
		return "somebody"
	}
	return cmp.Or(ensure.OtherManager(current.GetManagedFields(), patch.Fields), "somebody")
}

// failed sorts a failed write: what passes by itself is tried again without a word,
// the rest is an error that the user hears of.
func (l *Loop[O, F]) failed(done *Outcome, err error) {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || TestFailed(err) {
		done.retry = true
		return
	}
	done.fail(err)
}

// TestFailed reports whether a test operation of a JSON patch failed: the API server
// answers 422 for it, where 409 is meant.
func TestFailed(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "the server rejected our request due to an error in our request")
}

func (l *Loop[O, F]) tell(object client.Object, events []Event) {
	for _, event := range events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		l.Events.Eventf(object, event.Related, kind, event.Reason, event.Action, "%s", event.Note)
	}
}
