// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/api/common"
)

// act carries out the plan, the changes that a reconcile has decided on. Only act and the status writer change anything
// in the cluster. While the object is paused, act changes nothing, and counts the changes that it holds back.
func (l *Loop[O, F, D]) act(ctx context.Context, gvk schema.GroupVersionKind, object O, plan Plan) Outcome {
	by := pausedBy(object, plan)
	done := Outcome{Paused: by != "", PausedBy: by, held: plan.Hold || by != ""}
	if plan.Finalizer != "" && !l.addFinalizer(ctx, gvk, object, plan.Finalizer, &done) && !done.held {
		return done
	}
	l.children(ctx, object, plan, &done)
	for _, patch := range plan.Patches {
		l.patch(ctx, patch, &done)
	}
	// After a failure, the remaining parts of the plan are skipped, because they would be based on an older state.
	if done.Err == nil && !done.retry {
		l.conclude(ctx, gvk, object, plan, &done)
	}
	l.patchIndependent(ctx, object, plan.Independent, &done)
	return done
}

// pausedBy returns the annotation or field by which the user has paused the object, for messages; "" if it is not
// paused.
func pausedBy(object client.Object, plan Plan) string {
	var by []string
	if common.IsSet(object.GetAnnotations(), common.PausedAnnotation) {
		by = append(by, annotationPauses)
	}
	if plan.PausedBy != "" {
		by = append(by, plan.PausedBy)
	}
	return strings.Join(by, " and ")
}

func (l *Loop[O, F, D]) children(ctx context.Context, object O, plan Plan, done *Outcome) {
	done.Results = l.Children.Ensure(ctx, object, plan.Children, done.held)
	for _, result := range done.Results {
		done.lookAgain(result.Again)
		if result.Err != nil {
			done.failWrite(result.Err)
		}
	}
	if len(plan.Prune) > 0 && done.Err == nil && done.settled() {
		results, err := l.Children.Prune(ctx, object, plan.Children, plan.Prune, plan.Stays, done.held)
		done.Results = append(done.Results, results...)
		if err != nil {
			done.failWrite(err)
		}
	}
	for _, result := range done.Results {
		l.metrics.count(result)
		done.count(result)
		logChild(log.FromContext(ctx), result)
	}
}

// conclude carries out the last parts of the plan, which require that all earlier parts succeeded.
func (l *Loop[O, F, D]) conclude(ctx context.Context, gvk schema.GroupVersionKind, object O, plan Plan, done *Outcome) {
	if plan.Step != nil && !l.step(ctx, client.ObjectKeyFromObject(object), plan.Step, done) && !done.held {
		return
	}
	if plan.Release != "" {
		l.removeFinalizer(ctx, gvk, object, plan.Release, done)
	}
	if done.Err == nil && !done.retry && !done.held {
		l.record(object, plan.Events)
	}
}

// step takes the step of the plan, an action outside the Kubernetes API, unless a pause prevents it. It reports whether
// the step was taken.
func (l *Loop[O, F, D]) step(ctx context.Context, key client.ObjectKey, step *Step, done *Outcome) bool {
	if done.held && !step.DuringPause {
		done.Held++
		return false
	}
	begin := l.Clock.Now()
	err := step.Do(ctx)
	l.logStep(ctx, key, step, l.Clock.Since(begin), err)
	switch {
	case err == nil:
		done.wrote = true
		return true
	case errors.Is(err, ErrNotNow):
		done.retry = true
	default:
		done.fail(fmt.Errorf("%s: %w", step.Name, err))
	}
	return false
}

func (l *Loop[O, F, D]) record(object client.Object, events []Event) {
	for _, event := range events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		l.Events.Eventf(object, event.Related, kind, event.Reason, event.Action, "%s", event.Note)
	}
}
