// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Reconcile brings one object closer to its declared state.
func (l *Loop[O, F, D]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object, gvk, err := l.get(ctx, req.NamespacedName)
	if apierrors.IsNotFound(err) {
		l.forget(gvk, req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read %s: %w", req, err)
	}
	if l.Children.Behind(gvk, object) {
		return l.waitForCache(ctx, object), nil
	}
	facts, err := l.Kind.Observe(ctx, object)
	if err != nil {
		return l.reportUnread(ctx, gvk, object, err)
	}
	decision := l.Kind.Decide(object, facts, l.Clock.Now())
	plan := l.Kind.Plan(object, facts, decision)
	done := l.act(ctx, gvk, object, plan)
	if l.After != nil {
		l.After(object, facts, decision, done)
	}
	return l.report(ctx, gvk, object, facts, decision, plan, done)
}

// waitForCache looks again soon. The event of the write may not start a reconcile: another controller may have made the
// write, and the predicates of this one may ignore what it changed.
func (l *Loop[O, F, D]) waitForCache(ctx context.Context, object O) ctrl.Result {
	log.FromContext(ctx).V(1).Info("The cache does not show the last write yet; the reconcile waits", "resourceVersion", object.GetResourceVersion())
	return ctrl.Result{RequeueAfter: l.retries.wait(client.ObjectKeyFromObject(object))}
}

func (l *Loop[O, F, D]) get(ctx context.Context, key client.ObjectKey) (O, schema.GroupVersionKind, error) {
	object := l.New()
	gvk, err := apiutil.GVKForObject(object, l.Client.Scheme())
	if err != nil {
		return object, gvk, err
	}
	return object, gvk, l.Client.Get(ctx, key, object)
}

// forget deletes everything that the process remembers about an object that is gone.
func (l *Loop[O, F, D]) forget(gvk schema.GroupVersionKind, key client.ObjectKey) {
	l.Children.Forget(gvk, key)
	l.status.forget(key)
	l.retries.over(key)
	l.refusals.Forget(key)
	l.stepsLogged.Forget(key)
	l.metrics.forget(gvk, key)
	for _, forget := range l.Forget {
		forget(key)
	}
}
