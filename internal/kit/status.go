// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/api/common"
)

// writeStatus writes the status if it differs from before. It may postpone the write to limit the write rate.
func (l *Loop[O, F, D]) writeStatus(ctx context.Context, gvk schema.GroupVersionKind, before, object O, plan Plan, done Outcome) (ctrl.Result, error) {
	key := client.ObjectKeyFromObject(object)
	if c, ok := any(object).(hasConditions); ok {
		*c.StatusObservedGeneration() = object.GetGeneration()
	}
	if l.Finish != nil {
		l.Finish(object)
	}
	keepTimes(before, object)
	l.metrics.observe(gvk, object)
	if isGone(object) || equality.Semantic.DeepEqual(before, object) {
		return l.result(ctx, key, plan, done)
	}
	// After a write conflict, this status may be based on outdated objects, so do not write Ready=True. The next
	// reconcile follows soon.
	if done.retry && isReady(object) {
		return l.result(ctx, key, plan, done)
	}
	record := l.Records != nil && l.Records(before, object)
	if wait := l.statusWait(before, object, done); wait > 0 && !record {
		log.FromContext(ctx).V(1).Info("The status changed, and is written after a wait", "wait", wait.String())
		done.lookAgain(wait)
		done.unreported = readyChanged(before, object)
		return l.result(ctx, key, plan, done)
	}
	if !l.patchStatus(ctx, gvk, before, object, &done) {
		return l.result(ctx, key, plan, done)
	}
	written := l.Clock.Now()
	if record { // later steps depend on this record, so the write must not wait
		written = written.Add(-statusInterval)
	}
	l.status.wrote(key, written, isPending(before), isReady(object))
	l.recordTransitions(ctx, before, object)
	return l.result(ctx, key, plan, done)
}

// patchStatus writes the status, and reports whether that succeeded.
func (l *Loop[O, F, D]) patchStatus(ctx context.Context, gvk schema.GroupVersionKind, before, object O, done *Outcome) bool {
	updated := object.DeepCopyObject().(O)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := l.Client.Status().Patch(ctx, updated, patch, client.FieldOwner(common.Name))
	switch {
	case apierrors.IsNotFound(err):
		return false
	case apierrors.IsConflict(err):
		done.retry = true
		return false
	case err != nil:
		done.fail(fmt.Errorf("write the status of %s: %w", client.ObjectKeyFromObject(object), err))
		return false
	}
	l.Children.Record(gvk, updated)
	done.wrote = true
	return true
}

// statusWait returns how long to postpone the status write. A status that only reports progress must wait longer than
// one that reports a problem, such as a refusal by the API server.
func (l *Loop[O, F, D]) statusWait(before, after client.Object, done Outcome) time.Duration {
	key, now := client.ObjectKeyFromObject(after), l.Clock.Now()
	if done.Err == nil && isProgress(before, after) {
		return l.status.waitProgress(key, now)
	}
	return l.status.wait(key, now, statusInterval)
}

// recordTransitions logs each changed condition, and writes the events.
func (l *Loop[O, F, D]) recordTransitions(ctx context.Context, before, after O) {
	for _, t := range transitions(before, after) {
		logTransition(log.FromContext(ctx), t)
		if t.is.Type == readyType {
			l.Events.Eventf(after, nil, eventType(t.is), t.is.Reason, "Report", "%s", note(t.is))
		}
	}
	if l.Transitions != nil {
		l.record(after, l.Transitions(before, after))
	}
}

// eventType returns Warning if a condition is False because of a problem, and Normal otherwise.
func eventType(c metav1.Condition) string {
	if c.Status == metav1.ConditionFalse && !common.IsNews(c.Reason) {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}
