// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
)

// memcachedReconciler creates or updates the four children of a Memcached.
type memcachedReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

func (r *memcachedReconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1alpha1.Memcached{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Complete(r)
}

// Reconcile creates or updates the children of a Memcached and writes its status.
func (r *memcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	m := &cachev1alpha1.Memcached{}
	if err := r.Get(ctx, req.NamespacedName, m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	own := metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}
	service, list := &corev1.Service{ObjectMeta: own}, &corev1.ConfigMap{ObjectMeta: own}
	list.Name += "-servers"
	set, budget := &appsv1.StatefulSet{ObjectMeta: own}, &policyv1.PodDisruptionBudget{ObjectMeta: own}
	for _, child := range []struct {
		object client.Object
		fill   func()
	}{
		{service, func() { fillService(m, service) }},
		{list, func() { fillServerList(m, list) }},
		{set, func() { fillStatefulSet(m, set) }},
		{budget, func() { fillBudget(m, budget) }},
	} {
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, child.object, func() error {
			child.fill()
			return controllerutil.SetControllerReference(m, child.object, r.Scheme)
		})
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{RequeueAfter: lookAgain}, r.status(ctx, m, set)
}

func (r *memcachedReconciler) status(ctx context.Context, m *cachev1alpha1.Memcached, set *appsv1.StatefulSet) error {
	pods := &corev1.PodList{}
	if err := r.List(ctx, pods, client.InNamespace(m.Namespace), client.MatchingLabels(labels(m))); err != nil {
		return err
	}
	m.Status.Nodes = nil
	for _, pod := range pods.Items {
		m.Status.Nodes = append(m.Status.Nodes, pod.Name)
	}
	slices.Sort(m.Status.Nodes)
	m.Status.Servers = servers(m)
	m.Status.Replicas = m.Spec.Size
	m.Status.ReadyReplicas = set.Status.ReadyReplicas
	ready := metav1.Condition{Type: cachev1alpha1.MemcachedReady, Status: metav1.ConditionFalse, Reason: "Progressing", Message: "Servers are starting"}
	if set.Status.ReadyReplicas == m.Spec.Size {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "Available", "All servers are ready"
	}
	meta.SetStatusCondition(&m.Status.Conditions, ready)
	return r.Status().Update(ctx, m)
}
