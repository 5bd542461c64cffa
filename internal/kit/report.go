// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// report computes the status once, from the facts and from what was done, and writes
// it if it changed.
func (l *Loop[O, F]) report(ctx context.Context, gvk schema.GroupVersionKind, object O, facts F, plan Plan, done Outcome) (ctrl.Result, error) {
	reporter, ok := l.Kind.(Reporter[O, F])
	if !ok {
		return l.result(client.ObjectKeyFromObject(object), plan, done)
	}
	before := object.DeepCopyObject().(O)
	now := l.Clock.Now()
	reporter.Report(object, facts, done, now)
	l.reportDeletion(object, now)
	l.reportPause(object, done, now)
	l.reportIgnored(object, facts, now)
	return l.writeStatus(ctx, gvk, before, object, plan, done)
}

// reportUnread says that the facts could not be read: nothing is known, which is not
// the same as what was last known.
func (l *Loop[O, F]) reportUnread(ctx context.Context, gvk schema.GroupVersionKind, object O, cause error) (ctrl.Result, error) {
	done := Outcome{Err: fmt.Errorf("observe %s: %w", client.ObjectKeyFromObject(object), cause)}
	before := object.DeepCopyObject().(O)
	if set, ok := conditions(object, l.Clock.Now()); ok {
		set.Unknown("Ready", common.ReasonReadFailed, cause.Error())
		return l.writeStatus(ctx, gvk, before, object, Plan{}, done)
	}
	return l.result(client.ObjectKeyFromObject(object), Plan{}, done)
}

// reportDeletion keeps an object that others hold from claiming to be as wanted while it is
// being deleted. One that the kind holds itself reports its deletion in its own terms.
func (l *Loop[O, F]) reportDeletion(object O, now time.Time) {
	set, ok := conditions(object, now)
	held := object.GetFinalizers()
	if !ok || object.GetDeletionTimestamp() == nil || slices.ContainsFunc(held, isOurs) {
		return
	}
	set.False("Ready", common.ReasonDeleting, "It is being deleted; finalizers "+strings.Join(held, ", ")+" hold it")
}

// isOurs tells a finalizer of a kind from those of others.
func isOurs(finalizer string) bool { return strings.HasPrefix(finalizer, "opcrew.io/") }

// reportPause keeps a paused object from claiming to be as wanted while changes wait.
func (l *Loop[O, F]) reportPause(object O, done Outcome, now time.Time) {
	set, ok := conditions(object, now)
	if !ok {
		return
	}
	if !done.Paused {
		set.Remove(common.ConditionPaused)
		return
	}
	by := strings.Replace(done.PausedBy, "annotation", "Annotation", 1)
	message := fmt.Sprintf("%s: %d changes are held back", by, done.Held)
	set.True(common.ConditionPaused, common.ReasonPaused, message)
	if done.Held > 0 {
		set.False("Ready", common.ReasonPaused, message)
	}
}

// writeStatus writes the status if it differs from before, but not sooner after the
// last write than statusInterval: what happens in between is written as one.
func (l *Loop[O, F]) writeStatus(ctx context.Context, gvk schema.GroupVersionKind, before, object O, plan Plan, done Outcome) (ctrl.Result, error) {
	if c, ok := any(object).(Conditioned); ok {
		*c.StatusObservedGeneration() = object.GetGeneration()
	}
	if echoer, ok := l.Kind.(Echoer[O]); ok {
		echoer.Echo(object)
	}
	keepTimes(before, object)
	l.Metrics.observe(gvk, object)
	if released(object) || equality.Semantic.DeepEqual(before, object) {
		return l.result(client.ObjectKeyFromObject(object), plan, done)
	}
	if done.retry && saysReady(object) { // what is not so any more, as a conflict has just shown
		return l.result(client.ObjectKeyFromObject(object), plan, done)
	}
	key := client.ObjectKeyFromObject(object)
	record := l.isRecord(before, object)
	if wait := l.statusWait(before, object, done); wait > 0 && !record {
		done.lookAgain(wait)
		done.untold = saysOtherwise(before, object)
		return l.result(client.ObjectKeyFromObject(object), plan, done)
	}
	updated := object.DeepCopyObject().(O)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := l.Client.Status().Patch(ctx, updated, patch, client.FieldOwner(common.Name))
	switch {
	case apierrors.IsNotFound(err):
		return l.result(client.ObjectKeyFromObject(object), plan, done)
	case apierrors.IsConflict(err):
		done.retry = true
		return l.result(client.ObjectKeyFromObject(object), plan, done)
	case err != nil:
		done.fail(fmt.Errorf("status of %s: %w", key, err))
		return l.result(client.ObjectKeyFromObject(object), plan, done)
	}
	l.Writes().Record(gvk, updated)
	written := l.Clock.Now()
	if record { // it holds up progress, and not what comes of it
		written = written.Add(-statusInterval)
	}
	l.status.wrote(key, written, isPending(before), saysReady(object))
	l.tellTransitions(before, object)
	if teller, ok := l.Kind.(Teller[O]); ok {
		l.tell(object, teller.Tell(before, object))
	}
	return l.result(client.ObjectKeyFromObject(object), plan, done)
}

func (l *Loop[O, F]) isRecord(before, now O) bool {
	recorder, ok := l.Kind.(Recorder[O])
	return ok && recorder.Records(before, now)
}

// saysOtherwise reports whether Ready has another status or reason now. Words alone may be
// different each time (the id of a request), and do not hurry.
func saysOtherwise(before, after client.Object) bool {
	old, ok := before.(Conditioned)
	if !ok {
		return false
	}
	was := meta.FindStatusCondition(*old.StatusConditions(), "Ready")
	now := meta.FindStatusCondition(*after.(Conditioned).StatusConditions(), "Ready")
	return now != nil && (was == nil || was.Status != now.Status || was.Reason != now.Reason || was.ObservedGeneration != now.ObservedGeneration)
}

// isPending reports whether no status has said anything of Ready yet.
func isPending(object client.Object) bool {
	c, ok := object.(Conditioned)
	if !ok {
		return false
	}
	ready := meta.FindStatusCondition(*c.StatusConditions(), "Ready")
	return ready == nil || ready.Reason == common.ReasonPending
}

func saysReady(object client.Object) bool {
	c, ok := object.(Conditioned)
	return ok && meta.IsStatusConditionTrue(*c.StatusConditions(), "Ready")
}

// statusWait is how long a status must wait for.
func (l *Loop[O, F]) statusWait(before, after client.Object, done Outcome) time.Duration {
	key, now := client.ObjectKeyFromObject(after), l.Clock.Now()
	if done.Err == nil && isProgress(before, after) { // a refusal is no progress
		return l.status.waitProgress(key, now)
	}
	return l.status.wait(key, now, statusInterval)
}

// isProgress reports whether both say that Ready is on its way, of the same generation.
func isProgress(before, after client.Object) bool {
	old, ok := before.(Conditioned)
	if !ok {
		return false
	}
	was := meta.FindStatusCondition(*old.StatusConditions(), "Ready")
	now := meta.FindStatusCondition(*after.(Conditioned).StatusConditions(), "Ready")
	return was != nil && now != nil && was.Status == now.Status && common.OnItsWay(was.Reason) && common.OnItsWay(now.Reason) &&
		was.ObservedGeneration == now.ObservedGeneration
}

// keepTimes gives the conditions that are as before the time that they had. One report
// may set a condition twice, first as the facts have it and then as a pause has it:
// the time would move with every report, and the status be written for ever.
func keepTimes(before, after client.Object) {
	old, ok := before.(Conditioned)
	if !ok {
		return
	}
	list := *after.(Conditioned).StatusConditions()
	for i := range list {
		was := meta.FindStatusCondition(*old.StatusConditions(), list[i].Type)
		if was != nil && was.Status == list[i].Status && was.LastTransitionTime.Unix() > 0 { // a CRD's default has no time
			list[i].LastTransitionTime = was.LastTransitionTime
		}
	}
}

// released reports whether the object is gone with its last finalizer: there is nothing
// left to write a status to.
func released(object client.Object) bool {
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
}

// tellTransitions makes an event of every change of Ready.
func (l *Loop[O, F]) tellTransitions(before, after O) {
	old, ok := any(before).(Conditioned)
	if !ok {
		return
	}
	for _, c := range *any(after).(Conditioned).StatusConditions() {
		if c.Type != "Ready" {
			continue
		}
		was := meta.FindStatusCondition(*old.StatusConditions(), c.Type)
		if was != nil && was.Status == c.Status && was.Reason == c.Reason {
			continue
		}
		kind := corev1.EventTypeNormal
		if c.Status == metav1.ConditionFalse && !common.IsNews(c.Reason) {
			kind = corev1.EventTypeWarning
		}
		l.Events.Eventf(after, nil, kind, c.Reason, "Report", "%s", note(c))
	}
}

// note is a condition as one line of an event, which holds 1 KiB at most.
func note(c metav1.Condition) string {
	return condition.Cut(fmt.Sprintf("%s is %s: %s", c.Type, c.Status, c.Message), 1000)
}

func conditions(object client.Object, now time.Time) (condition.Set, bool) {
	c, ok := object.(Conditioned)
	if !ok {
		return condition.Set{}, false
	}
	return condition.Set{Conditions: c.StatusConditions(), Generation: object.GetGeneration(), Now: now}, true
}
