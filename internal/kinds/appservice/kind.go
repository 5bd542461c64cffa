// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package appservice reconciles AppServices: pods of one image in a Deployment, and a Service in front of them. It is
// the simplest of the application kinds. internal/workload has what they share.
package appservice

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// +kubebuilder:rbac:groups=app.example.com,resources=appservices,verbs=get;list;watch
// +kubebuilder:rbac:groups=app.example.com,resources=appservices/status,verbs=patch
// +kubebuilder:rbac:groups=app.example.com,resources=appservices/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=appservices.app.example.com,verbs=get

// workers is how many objects are reconciled at a time.
const workers = 8

// Kind returns the registration of AppService.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "appservice",
		Layer:       kit.Applications,
		CRDs:        []string{"appservices.app.example.com"},
		AddToScheme: appv1.AddToScheme,
		Cache: func() map[client.Object]cache.ByObject {
			pods := kit.Ours()
			sets := kit.Ours()
			return map[client.Object]cache.ByObject{
				&appv1.AppService{}:             {},
				&corev1.Service{}:               kit.Ours(),
				&appsv1.Deployment{}:            kit.Ours(),
				&appsv1.ReplicaSet{}:            sets,
				&policyv1.PodDisruptionBudget{}: kit.Ours(),
				&corev1.Pod{}:                   pods,
			}
		},
		Setup: setup,
	}
}

func setup(mgr ctrl.Manager, tools *kit.Tools) error {
	loop := &kit.Loop[*appv1.AppService, facts, decision]{
		Tools: tools,
		New:   func() *appv1.AppService { return &appv1.AppService{} },
		Kind:  &reconciler{Tools: tools},
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
		WithOptions(loop.Options(workers)).
		Complete(loop)
}
