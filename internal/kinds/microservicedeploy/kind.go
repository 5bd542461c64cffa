// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package microservicedeploy is the kind MicroServiceDeploy: an instance of a platform's
// microservice with its configuration, autoscaling, host names, basic auth, and its share
// of the tenant's quota.
//
// What the application kinds share is in internal/workload, the proxy that asks for
// passwords in internal/agents/authproxy.
package microservicedeploy

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// +kubebuilder:rbac:groups=custom.ops,resources=microservicedeploys,verbs=get;list;watch
// +kubebuilder:rbac:groups=custom.ops,resources=microservicedeploys/status,verbs=patch
// +kubebuilder:rbac:groups=custom.ops,resources=microservicedeploys/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services;serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=configmaps;secrets;resourcequotas,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies;ingresses,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods;namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets;daemonsets,verbs=list
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs;cronjobs,verbs=list
// +kubebuilder:rbac:groups="",resources=namespaces/finalizers,verbs=update
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=microservicedeploys.custom.ops,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=httproutes.gateway.networking.k8s.io,verbs=get;list;watch

const (
	// workers is how many objects are looked at at a time.
	workers = 8
	// hostIndex finds instances by the host names that they claim.
	hostIndex = "hosts"
	// QuotaLabel on a namespace has a quota made although pods of others run there.
	QuotaLabel = "opcrew.io/quota"
)

// Kind is MicroServiceDeploy's entry in the list of kinds.
func Kind() kit.Kind {
	return kit.Kind{
		Name:        "microservicedeploy",
		Layer:       kit.Applications,
		CRDs:        []string{"microservicedeploys.custom.ops"},
		Optional:    []kit.Optional{{CRD: routeCRD, Object: httpRoutes(), Cache: kit.Ours()}},
		AddToScheme: customv1.AddToScheme,
		Cache:       cached,
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			if err := mgr.GetFieldIndexer().IndexField(context.Background(), &customv1.MicroServiceDeploy{}, hostIndex, func(o client.Object) []string {
				return claims(o.(*customv1.MicroServiceDeploy))
			}); err != nil {
				return err
			}
			around := &neighbours{live: tools.Live, clock: tools.Clock}
			troubles := newTroubles()
			if err := setup(mgr, &reconciler{tools, around, troubles}); err != nil {
				return err
			}
			return setupTenants(mgr, &tenantReconciler{Tools: tools, neighbours: around, troubles: troubles})
		},
	}
}

func httpRoutes() client.Object {
	route := &unstructured.Unstructured{}
	route.SetGroupVersionKind(routeKind)
	return route
}

func cached() map[client.Object]cache.ByObject {
	pods := kit.Ours()
	pods.Transform = kit.TrimPod
	sets := kit.Ours()
	sets.Transform = kit.TrimReplicaSet
	return map[client.Object]cache.ByObject{
		&customv1.MicroServiceDeploy{}:           {},
		&corev1.Namespace{}:                      {},
		&corev1.ResourceQuota{}:                  {}, // those of others too: a rollout must fit into them
		&corev1.Service{}:                        kit.Ours(),
		&corev1.ServiceAccount{}:                 kit.Ours(),
		&corev1.ConfigMap{}:                      kit.Ours(),
		&corev1.Secret{}:                         kit.Ours(),
		&appsv1.Deployment{}:                     kit.Ours(),
		&appsv1.ReplicaSet{}:                     sets,
		&policyv1.PodDisruptionBudget{}:          kit.Ours(),
		&autoscalingv2.HorizontalPodAutoscaler{}: kit.Ours(),
		&networkingv1.NetworkPolicy{}:            kit.Ours(),
		&networkingv1.Ingress{}:                  kit.Ours(),
		&nodev1.RuntimeClass{}:                   {}, // of all: what a pod of it costs beside its containers
		&corev1.Pod{}:                            pods,
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	loop := &kit.Loop[*customv1.MicroServiceDeploy, facts]{
		Tools: r.Tools,
		New:   func() *customv1.MicroServiceDeploy { return &customv1.MicroServiceDeploy{} },
		Kind:  r,
	}
	byLabels := handler.EnqueueRequestsFromMapFunc(objectByLabels)
	ofUsers, err := r.WatchedSecrets(mgr, r.whoReferTo)
	if err != nil {
		return err
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named("microservicedeploy").
		For(&customv1.MicroServiceDeploy{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}).
		Owns(&appsv1.Deployment{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Owns(&autoscalingv2.HorizontalPodAutoscaler{}, builder.WithPredicates(scalerChanged)).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&networkingv1.Ingress{}).
		Watches(&appsv1.ReplicaSet{}, byLabels).
		Watches(&corev1.Pod{}, byLabels).
		Watches(&corev1.ResourceQuota{}, handler.EnqueueRequestsFromMapFunc(r.instancesOf), builder.WithPredicates(quotaChanged)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.whoAskFor)).
		WatchesRawSource(ofUsers).
		WatchesRawSource(ctrlsource.Channel(r.troubles.wake, handler.EnqueueRequestsFromMapFunc(r.instancesOf))).
		Watches(&customv1.MicroServiceDeploy{}, handler.EnqueueRequestsFromMapFunc(r.rivalsOf), builder.WithPredicates(claimsChanged)).
		WithOptions(kit.ControllerOptions(workers))
	if r.Installed[routeCRD] {
		b = b.Owns(httpRoutes())
	}
	return b.Complete(loop)
}

func setupTenants(mgr ctrl.Manager, r *tenantReconciler) error {
	loop := &kit.Loop[*corev1.Namespace, tenantFacts]{
		Tools: r.Tools,
		New:   func() *corev1.Namespace { return &corev1.Namespace{} },
		Kind:  r,
		After: func(ns *corev1.Namespace, _ tenantFacts, done kit.Outcome) { r.troubles.carriedOut(ns.Name, done) },
		Forget: func(key client.ObjectKey) {
			r.checked.Delete(key.Name)
			r.neighbours.forget(key.Name)
			r.troubles.forget(key.Name)
		},
	}
	tenant := handler.EnqueueRequestsFromMapFunc(namespaceOf)
	return ctrl.NewControllerManagedBy(mgr).
		Named("microservicedeploy-tenant").
		For(&corev1.Namespace{}, builder.WithPredicates(labelsChanged)).
		Watches(&customv1.MicroServiceDeploy{}, tenant, builder.WithPredicates(specChanged)).
		Watches(&appsv1.Deployment{}, tenant, builder.WithPredicates(ofInstances)).
		Watches(&corev1.ResourceQuota{}, tenant, builder.WithPredicates(tenants)).
		Watches(&corev1.Secret{}, tenant, builder.WithPredicates(tenants)).
		Watches(&nodev1.RuntimeClass{}, handler.EnqueueRequestsFromMapFunc(r.tenantsOfClass)).
		WithOptions(kit.ControllerOptions(workers)).
		Complete(loop)
}
