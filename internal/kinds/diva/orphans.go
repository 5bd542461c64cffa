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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// clientsFinalizer is set on the Diva while its StatefulSet is recreated and the pods keep running. Until the new
// StatefulSet adopts the pods, they have no owner, so the garbage collector would not delete them with the Diva.
const clientsFinalizer = "opcrew.io/diva-clients"

// orphaning reports whether the StatefulSet of the client pods is being recreated, or is about to be.
func orphaning(d *opsv1.Diva, clients workload.Members, claimSize resource.Quantity) bool {
	held, set := controllerutil.ContainsFinalizer(d, clientsFinalizer), clients.Set
	if set == nil {
		return held
	}
	if template := templateSize(set); template != nil && template.Cmp(claimSize) != 0 {
		return true
	}
	// In the cache, the new StatefulSet may appear before it has adopted the pods, and a pod may be outdated.
	return held && (set.DeletionTimestamp != nil || clients.Missing() || anyOrphan(clients.Pods))
}

// anyOrphan reports whether a pod has no controller at the moment.
func anyOrphan(pods map[string]*corev1.Pod) bool {
	for _, pod := range pods {
		if metav1.GetControllerOf(pod) == nil {
			return true
		}
	}
	return false
}

// leave returns the plan for a Diva that is being deleted. The garbage collector deletes all objects that have an
// owner. Claims whose data is kept have no owner on purpose. So opcrew only has to delete client pods without an owner.
func (r *reconciler) leave(d *opsv1.Diva, set *appsv1.StatefulSet) kit.Plan {
	if !controllerutil.ContainsFinalizer(d, clientsFinalizer) || set != nil && set.DeletionTimestamp != nil {
		return kit.Plan{} // the pods have an owner until the StatefulSet is gone; its deletion triggers another reconcile
	}
	plan := kit.Plan{Release: clientsFinalizer}
	// The orphan finalizer means that the user wants to keep the pods.
	if !slices.Contains(d.Finalizers, metav1.FinalizerOrphanDependents) {
		plan.Step = &kit.Step{Name: "delete client pods without an owner", Do: func(ctx context.Context) error { return r.deleteOrphans(ctx, d) }}
	}
	return plan
}

// deleteOrphans deletes only the pods that a deleted StatefulSet left behind. It reads from the API server, because the
// caches may not show yet that the StatefulSet is being deleted.
func (r *reconciler) deleteOrphans(ctx context.Context, d *opsv1.Diva) error {
	set, pods := &appsv1.StatefulSet{}, &corev1.PodList{}
	key := client.ObjectKey{Namespace: d.Namespace, Name: names.Clients(d).Name}
	switch err := r.Live.Get(ctx, key, set); {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read the StatefulSet of the clients: %w", err)
	case err == nil && set.DeletionTimestamp != nil:
		return errors.New("the StatefulSet of the clients is still being deleted")
	}
	if err := r.Live.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(names.Selector(d)), client.MatchingLabels(names.Clients(d).Selector)); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if metav1.GetControllerOf(pod) != nil || pod.Labels[appsv1.StatefulSetPodNameLabel] != pod.Name || pod.DeletionTimestamp != nil {
			continue
		}
		if err := r.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete pod %s: %w", pod.Name, err)
		}
	}
	return nil
}
