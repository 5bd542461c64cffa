// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package memcached reconciles Memcached objects: memcached servers with stable names, in a StatefulSet behind a
// headless Service. Clients distribute keys by a hash over the server names. A hash over pod addresses would move
// nearly all keys after each restart, because a restarted pod has a new address.
package memcached

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// Read the Memcached objects.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch
// Write the status.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
// Set owner references that block the deletion of a Memcached until its children are deleted.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// Manage the StatefulSet of the servers.
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch
// Manage the Service and the ConfigMap that lists the servers for clients.
// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=get;list;watch;create;patch
// Manage the NetworkPolicy that decides which clients may reach the servers.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch
// Manage the PodDisruptionBudget of the servers.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// Read pods to report why a server is not ready.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// Read nodes to detect lost nodes.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// Read events to report why a pod cannot be created.
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=memcacheds.cache.example.com,verbs=get

// workers is the number of Memcached objects that are reconciled concurrently.
const workers = 8

// Kind returns the registration of Memcached.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "memcached",
		Layer:       kit.Data,
		CRDs:        []string{"memcacheds.cache.example.com"},
		AddToScheme: cachev1alpha1.AddToScheme,
		Cache: func() map[client.Object]cache.ByObject {
			return map[client.Object]cache.ByObject{
				&cachev1alpha1.Memcached{}:      {},
				&corev1.Service{}:               kit.Ours(),
				&corev1.ConfigMap{}:             kit.Ours(),
				&appsv1.StatefulSet{}:           kit.Ours(),
				&networkingv1.NetworkPolicy{}:   kit.Ours(),
				&policyv1.PodDisruptionBudget{}: kit.Ours(),
				&corev1.Pod{}:                   kit.Ours(),
				&corev1.Node{}:                  {},
			}
		},
		Setup: setup,
	}
}

func setup(mgr ctrl.Manager, tools *kit.Tools) error {
	r := &reconciler{Tools: tools, refusals: workload.Refusals{Live: tools.Live, Clock: tools.Clock}}
	loop := &kit.Loop[*cachev1alpha1.Memcached, facts, decision]{
		Tools:       tools,
		New:         func() *cachev1alpha1.Memcached { return &cachev1alpha1.Memcached{} },
		Kind:        r,
		Transitions: r.transitions,
		Forget:      []func(client.ObjectKey){r.refusals.Forget},
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("memcached").
		For(&cachev1alpha1.Memcached{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(objectOfPod)).
		Watches(&corev1.Node{}, workload.ForPodsOn(tools.Client, objectOfPod), builder.WithPredicates(workload.ZoneChanged())).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}
