// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/opcrew/opcrew/api/common"
)

// behindWait passes before an object is looked at again whose event, after a write of
// ours, has not come. It is only a net: the event wakes the loop.
const behindWait = 5 * time.Second

// Loop carries out the reconcile of one sort of key: observe, plan, act, report. It
// is the same for every kind; what differs is in Kind.
type Loop[O client.Object, F any] struct {
	*Tools
	// New returns an empty object.
	New func() O
	// Kind is the part that differs.
	Kind Reconciler[O, F]
	// After, if set, is called when a plan was carried out, with what became of it.
	After func(O, F, Outcome)
	// Forget, if set, is called when the object is gone, with its key.
	Forget func(client.ObjectKey)

	status  statusGate
	retries retries
	asides  asides
}

// Reconcile brings one object nearer to what it declares.
func (l *Loop[O, F]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object, gvk, err := l.get(ctx, req.NamespacedName)
	if apierrors.IsNotFound(err) {
		l.gone(gvk, req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read %s: %w", req, err)
	}
	if l.Writes().Behind(gvk, object) {
		return ctrl.Result{RequeueAfter: behindWait}, nil
	}
	facts, err := l.Kind.Observe(ctx, object)
	if err != nil {
		return l.reportUnread(ctx, gvk, object, err)
	}
	plan := l.Kind.Plan(object, facts, l.Clock.Now())
	done := l.act(ctx, gvk, object, plan)
	if l.After != nil {
		l.After(object, facts, done)
	}
	return l.report(ctx, gvk, object, facts, plan, done)
}

func (l *Loop[O, F]) get(ctx context.Context, key client.ObjectKey) (O, schema.GroupVersionKind, error) {
	object := l.New()
	gvk, err := apiutil.GVKForObject(object, l.Client.Scheme())
	if err != nil {
		return object, gvk, err
	}
	return object, gvk, l.Client.Get(ctx, key, object)
}

// gone drops all that is remembered of an object.
func (l *Loop[O, F]) gone(gvk schema.GroupVersionKind, key client.ObjectKey) {
	l.Writes().Forget(gvk, key)
	l.status.forget(key)
	l.retries.over(key)
	l.asides.forget(key)
	l.Metrics.forget(gvk, key)
	if l.Forget != nil {
		l.Forget(key)
	}
}

// result turns an outcome into what the queue does next: an error backs off by
// itself, everything else waits for an event or for the time asked for. So does
// an error that held up nothing, lest it hold up what is to be done next.
func (l *Loop[O, F]) result(key client.ObjectKey, plan Plan, done Outcome) (ctrl.Result, error) {
	done.lookAgain(plan.Again)
	// What the user has not been told yet does not wait for the backoff, which events can
	// drive up to a minute within the half second between two writes of a status.
	if done.Err != nil && !done.untold && !done.aside {
		return ctrl.Result{}, done.Err
	}
	if done.retry {
		done.lookAgain(l.retries.wait(key))
	} else {
		l.retries.over(key)
	}
	return ctrl.Result{RequeueAfter: done.again}, nil
}

// pausedBy names what the user has paused the object with; empty: it is not paused.
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
