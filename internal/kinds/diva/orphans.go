// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// clientsFinalizer is held while the StatefulSet is recreated around its pods: no one has
// those for a moment, and no one would collect them with an object that is deleted then.
const clientsFinalizer = "opcrew.io/diva-clients"

// orphaning reports whether the StatefulSet is about to be recreated, or is.
func (f facts) orphaning(d *opsv1.Diva, decided decision) bool {
	held, set := controllerutil.ContainsFinalizer(d, clientsFinalizer), f.clients.Set
	if set == nil {
		return held
	}
	if has, ok := templateOf(set); ok && has.Cmp(decided.claimSize) != 0 {
		return true
	}
	// The new one is seen before it has its pods, and a pod as it was before.
	return held && (set.DeletionTimestamp != nil || f.clients.Missing() || len(f.orphans()) > 0)
}

// orphans are pods of clients that no one controls at the moment.
func (f facts) orphans() []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range f.clients.Pods {
		if metav1.GetControllerOf(pod) == nil {
			out = append(out, pod)
		}
	}
	return out
}

// guard holds the finalizer for as long as it is needed, and not longer.
func (f facts) guard(d *opsv1.Diva, decided decision, plan *kit.Plan) {
	if f.orphaning(d, decided) {
		plan.Finalizer = clientsFinalizer
		return
	}
	plan.Release = clientsFinalizer
}

// leave is the plan of an object that is being deleted. What has an owner is collected with
// it, and claims with data that is retained have none; only pods that lost theirs are ours to take.
func (r *reconciler) leave(d *opsv1.Diva, f facts) kit.Plan {
	set := f.clients.Set
	if !controllerutil.ContainsFinalizer(d, clientsFinalizer) || set != nil && set.DeletionTimestamp != nil {
		return kit.Plan{} // the StatefulSet's end wakes us: until then its pods are its own
	}
	plan := kit.Plan{Release: clientsFinalizer}
	if !slices.Contains(d.Finalizers, metav1.FinalizerOrphanDependents) { // as the user wants them
		plan.Step = &kit.Step{Name: "take away clients that nobody has", Do: func(ctx context.Context) error { return r.takeOrphans(ctx, d) }}
	}
	return plan
}

// takeOrphans deletes exactly the pods that the StatefulSet left behind. The caches may not
// show yet that it is going, or that it went, so the API server is asked.
func (r *reconciler) takeOrphans(ctx context.Context, d *opsv1.Diva) error {
	set, pods := &appsv1.StatefulSet{}, &corev1.PodList{}
	key := client.ObjectKey{Namespace: d.Namespace, Name: clients(d).Name}
	switch err := r.Live.Get(ctx, key, set); {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read StatefulSet: %w", err)
	case err == nil && set.DeletionTimestamp != nil:
		return errors.New("the StatefulSet is going")
	}
	if err := r.Live.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(ours(d)), client.MatchingLabels(clients(d).Selector)); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if metav1.GetControllerOf(pod) != nil || pod.Labels[appsv1.StatefulSetPodNameLabel] != pod.Name || pod.DeletionTimestamp != nil {
			continue
		}
		if err := r.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %s: %w", pod.Name, err)
		}
	}
	return nil
}
