// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package appservice reconciles AppServices: a Deployment with pods of one image, and a Service in front of them. It is
// the simplest of the application kinds. internal/workload has the code that these kinds share.
package appservice

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// Read AppServices.
// +kubebuilder:rbac:groups=app.example.com,resources=appservices,verbs=get;list;watch
// Write the status of AppServices.
// +kubebuilder:rbac:groups=app.example.com,resources=appservices/status,verbs=patch
// Set owner references on children that block the deletion of the AppService until the children are gone.
// +kubebuilder:rbac:groups=app.example.com,resources=appservices/finalizers,verbs=update
// Run the pods of an AppService.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// Find out which pods belong to the current pod template, and why a rollout is stuck.
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// Manage the Service of an AppService, and delete it when the spec has no ports any more.
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// Manage the PodDisruptionBudget of an AppService with several replicas.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// Find out why a pod is not ready.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// Find out which Pod Security Standard a namespace enforces.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=appservices.app.example.com,verbs=get

// workers is the number of AppServices that are reconciled concurrently.
const workers = 8

// Kind returns the registration of AppService.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "appservice",
		Layer:       kit.Applications,
		CRDs:        []string{"appservices.app.example.com"},
		AddToScheme: appv1.AddToScheme,
		Cache: func() map[client.Object]cache.ByObject {
			return map[client.Object]cache.ByObject{
				&appv1.AppService{}:             {},
				&corev1.Namespace{}:             {},
				&corev1.Service{}:               kit.Ours(),
				&appsv1.Deployment{}:            kit.Ours(),
				&appsv1.ReplicaSet{}:            kit.Ours(),
				&policyv1.PodDisruptionBudget{}: kit.Ours(),
				&corev1.Pod{}:                   kit.Ours(),
			}
		},
		Setup: setup,
	}
}

func setup(mgr ctrl.Manager, tools *kit.Tools) error {
	r := &reconciler{Tools: tools}
	loop := &kit.Loop[*appv1.AppService, facts, decision]{
		Tools: tools,
		New:   func() *appv1.AppService { return &appv1.AppService{} },
		Kind:  r,
	}
	wakes := handler.EnqueueRequestsFromMapFunc(ownerByLabels)
	return ctrl.NewControllerManagedBy(mgr).
		Named("appservice").
		For(&appv1.AppService{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.Deployment{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Watches(&appsv1.ReplicaSet{}, wakes).
		Watches(&corev1.Pod{}, wakes).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(workload.ObjectsIn(tools.Client, &appv1.AppServiceList{})), builder.WithPredicates(workload.EnforcementChanged)).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}
