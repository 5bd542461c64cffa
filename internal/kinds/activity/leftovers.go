// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
)

// leftovers deletes pods and Secrets whose Activity no longer exists. The finalizer of an Activity normally keeps the
// Activity until its pod is gone, but a user who may change the Activity may also remove the finalizer.
type leftovers[O client.Object] struct{ *reconciler }

func setupLeftovers(mgr ctrl.Manager, r *reconciler) error {
	if err := setupLeft(mgr, r, "activity-pod", func() *corev1.Pod { return &corev1.Pod{} }); err != nil {
		return err
	}
	return setupLeft(mgr, r, "activity-secret", func() *corev1.Secret { return &corev1.Secret{} })
}

func setupLeft[O client.Object](mgr ctrl.Manager, r *reconciler, name string, empty func() O) error {
	loop := &kit.Loop[O, bool, bool]{Tools: r.Tools, New: empty, Kind: leftovers[O]{r}}
	onlyDeletions := predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(empty()).
		Watches(&egov1.Activity{}, handler.EnqueueRequestsFromMapFunc(ofActivity), builder.WithPredicates(onlyDeletions)).
		WithOptions(loop.Options(1)).
		Complete(loop)
}

// ofActivity returns a request for the pod and the Secret of a deleted Activity's current run, which have the same
// name. It ignores earlier runs: opcrew deletes their pods and Secrets when it starts again and reconciles every pod
// and Secret.
func ofActivity(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: run.PodKey(object.(*egov1.Activity))}}
}

// Observe reports whether the Activity of a pod or Secret no longer exists. The cache can be outdated, so Observe also
// reads the Activity from the API server.
func (l leftovers[O]) Observe(ctx context.Context, object O) (bool, error) {
	of := l.activityOf(ctx, object)
	if object.GetNamespace() != run.Namespace || len(of) == 0 || object.GetDeletionTimestamp() != nil && !holdsResult(object) {
		return false, nil
	}
	for _, reader := range []client.Reader{l.Client, l.Live} {
		a := &egov1.Activity{}
		err := reader.Get(ctx, of[0].NamespacedName, a)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("read Activity %s: %w", of[0].NamespacedName, err)
		}
		if err == nil && string(a.UID) == object.GetLabels()[common.OwnerLabel] {
			return false, nil
		}
	}
	return true, nil
}

// Decide returns what Observe found.
func (l leftovers[O]) Decide(_ O, gone bool, _ time.Time) bool { return gone }

// Plan deletes a pod or Secret whose Activity no longer exists. It also removes the pod's finalizer, because no one
// needs the result of the pod. A command that is still running gets SIGTERM, as for any deleted Activity.
func (l leftovers[O]) Plan(object O, gone, _ bool) kit.Plan {
	plan := kit.Plan{}
	if !gone {
		return plan
	}
	if pod, ok := client.Object(object).(*corev1.Pod); ok && holdsResult(pod) {
		plan.Patches = []kit.Patch{release(pod)}
	}
	if object.GetDeletionTimestamp() == nil {
		plan.Step = l.delete("remove what a deleted Activity left behind", object)
	}
	return plan
}

// Report does nothing, because opcrew does not write the status of pods and Secrets.
func (l leftovers[O]) Report(O, bool, bool, kit.Outcome) {}

// holdsResult reports whether a pod has the finalizer that keeps the pod until opcrew has read its result.
func holdsResult(object client.Object) bool {
	return slices.Contains(object.GetFinalizers(), run.ResultFinalizer)
}
