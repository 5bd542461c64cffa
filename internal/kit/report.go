// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// report computes the status from the facts, the decision and the outcome. It writes the status if it has changed.
func (l *Loop[O, F, D]) report(ctx context.Context, gvk schema.GroupVersionKind, object O, facts F, decision D, plan Plan, done Outcome) (ctrl.Result, error) {
	if _, ok := any(object).(hasConditions); !ok {
		return l.result(ctx, client.ObjectKeyFromObject(object), plan, done)
	}
	before := object.DeepCopyObject().(O)
	done.Now = l.Clock.Now()
	l.Kind.Report(object, facts, decision, done)
	l.reportDenied(object, done)
	l.reportDeletion(object, done.Now)
	l.reportPause(object, done, done.Now)
	l.reportIgnored(object, facts, done.Now)
	return l.writeStatus(ctx, gvk, before, object, plan, done)
}

// reportUnread handles a failed read of the facts. It sets Ready to Unknown, because the last known state may be
// outdated.
func (l *Loop[O, F, D]) reportUnread(ctx context.Context, gvk schema.GroupVersionKind, object O, cause error) (ctrl.Result, error) {
	done := Outcome{Err: fmt.Errorf("read the state of %s: %w", client.ObjectKeyFromObject(object), cause)}
	before := object.DeepCopyObject().(O)
	if set, ok := conditions(object, l.Clock.Now()); ok {
		set.Unknown(readyType, common.ReasonReadFailed, cause.Error())
		return l.writeStatus(ctx, gvk, before, object, Plan{}, done)
	}
	return l.result(ctx, client.ObjectKeyFromObject(object), Plan{}, done)
}

// reportDeletion sets Ready to False while an object is being deleted and only finalizers of other controllers are
// left. Kinds with their own finalizer report the deletion themselves.
func (l *Loop[O, F, D]) reportDeletion(object O, now time.Time) {
	set, ok := conditions(object, now)
	finalizers := object.GetFinalizers()
	if !ok || object.GetDeletionTimestamp() == nil || slices.ContainsFunc(finalizers, isOurs) {
		return
	}
	set.False(readyType, common.ReasonDeleting, "The object is being deleted; the finalizers "+strings.Join(finalizers, ", ")+" still block the deletion")
}

// reportDenied sets Ready to False while a guard (a check of finished pods, such as Pod Security) refuses a pod. So
// even a kind that has no condition for its children reports the refusal.
func (l *Loop[O, F, D]) reportDenied(object O, done Outcome) {
	set, ok := conditions(object, done.Now)
	if denied, is := done.First(ensure.Denied); ok && is {
		set.False(readyType, denied.Reason, denied.Message)
	}
}

// isOurs reports whether a finalizer belongs to opcrew.
func isOurs(finalizer string) bool { return strings.HasPrefix(finalizer, "opcrew.io/") }

// reportPause sets condition Paused. It also sets Ready to False if the pause holds back changes.
func (l *Loop[O, F, D]) reportPause(object O, done Outcome, now time.Time) {
	set, ok := conditions(object, now)
	if !ok {
		return
	}
	if !done.Paused {
		set.Remove(common.ConditionPaused)
		return
	}
	by := strings.Replace(done.PausedBy, "annotation", "Annotation", 1)
	message := fmt.Sprintf("%s: the object is paused, and %d changes are held back", by, done.Held)
	set.True(common.ConditionPaused, common.ReasonPaused, message)
	if done.Held > 0 {
		set.False(readyType, common.ReasonPaused, message)
	}
}

// conditions returns a Set for the conditions of an object; false if its type has no conditions.
func conditions(object client.Object, now time.Time) (condition.Set, bool) {
	c, ok := object.(hasConditions)
	if !ok {
		return condition.Set{}, false
	}
	return condition.Set{Conditions: c.StatusConditions(), Generation: object.GetGeneration(), Now: now}, true
}
