// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package microservicedeploy reconciles MicroServiceDeploys: instances of a platform's microservices, with
// configuration, autoscaling, host names, basic authentication and a shared quota. internal/workload has the code that
// the application kinds share. The authenticating proxy is in internal/agents/authproxy.
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
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/hosts"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/tenant"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// Read MicroServiceDeploys.
// +kubebuilder:rbac:groups=custom.ops,resources=microservicedeploys,verbs=get;list;watch
// Write the status of MicroServiceDeploys.
// +kubebuilder:rbac:groups=custom.ops,resources=microservicedeploys/status,verbs=patch
// Set owner references on children that block the deletion of the MicroServiceDeploy until the children are gone.
// +kubebuilder:rbac:groups=custom.ops,resources=microservicedeploys/finalizers,verbs=update
// Run the pods of a MicroServiceDeploy.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// Read the revisions of a MicroServiceDeploy for spec.rollbackTo.
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// Manage the Service and the ServiceAccount of a MicroServiceDeploy.
// +kubebuilder:rbac:groups="",resources=services;serviceaccounts,verbs=get;list;watch;create;patch
// Manage configurations, passwords and the quotas of a namespace; read users' Secrets and quotas.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets;resourcequotas,verbs=get;list;watch;create;patch;delete
// Manage the PodDisruptionBudget of a MicroServiceDeploy with several replicas.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// Manage the HorizontalPodAutoscaler of a MicroServiceDeploy with spec.autoscaling.
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// Restrict the access to a MicroServiceDeploy, and create the Ingress for its host names.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies;ingresses,verbs=get;list;watch;create;patch;delete
// Manage the HTTPRoute for the host names of a MicroServiceDeploy with a Gateway.
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;list;watch;create;patch;delete
// Find out why a pod is not ready, and count the pods in the quota of the namespace.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// Read labels of namespaces: the enforced security profile, and whether a quota may limit pods of other owners.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// Find out whether a quota would limit workloads of other owners.
// +kubebuilder:rbac:groups=apps,resources=statefulsets;daemonsets,verbs=list
// Read the overhead of pods, which counts in the quota.
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=get;list;watch
// Find out whether a quota would limit workloads of other owners.
// +kubebuilder:rbac:groups=batch,resources=jobs;cronjobs,verbs=list
// Set owner references to a namespace on the objects that its MicroServiceDeploys share.
// +kubebuilder:rbac:groups="",resources=namespaces/finalizers,verbs=update
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=microservicedeploys.custom.ops,verbs=get
// Find out whether the Gateway API is installed, and notice when it gets installed.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=httproutes.gateway.networking.k8s.io,verbs=get;list;watch

const (
	// workers is the number of objects that are reconciled concurrently.
	workers = 8
	// hostIndex is the cache index that finds MicroServiceDeploys by the host names that they claim.
	hostIndex = "hosts"
)

// Kind returns the registration of MicroServiceDeploy.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "microservicedeploy",
		Layer:       kit.Applications,
		CRDs:        []string{"microservicedeploys.custom.ops"},
		Optional:    map[string]client.Object{hosts.RouteCRD: httpRoutes()},
		AddToScheme: customv1.AddToScheme,
		Cache:       cached,
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			if err := mgr.GetFieldIndexer().IndexField(context.Background(), &customv1.MicroServiceDeploy{}, hostIndex, func(o client.Object) []string {
				return hosts.Claimed(o.(*customv1.MicroServiceDeploy))
			}); err != nil {
				return err
			}
			around := &tenant.Neighbours{Live: tools.Live, Clock: tools.Clock}
			troubles := tenant.NewTroubles()
			if err := setup(mgr, &reconciler{tools, around, troubles}); err != nil {
				return err
			}
			return tenant.Setup(mgr, tools, around, troubles, workers)
		},
	}
}

func httpRoutes() client.Object {
	route := &unstructured.Unstructured{}
	route.SetGroupVersionKind(hosts.RouteKind)
	return route
}

func cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&customv1.MicroServiceDeploy{}:           {},
		&corev1.Namespace{}:                      {},
		&corev1.ResourceQuota{}:                  {}, // includes users' quotas, because a rollout must fit into them
		&corev1.Service{}:                        kit.Ours(),
		&corev1.ServiceAccount{}:                 kit.Ours(),
		&corev1.ConfigMap{}:                      kit.Ours(),
		&corev1.Secret{}:                         kit.Ours(),
		&appsv1.Deployment{}:                     kit.Ours(),
		&appsv1.ReplicaSet{}:                     kit.Ours(),
		&policyv1.PodDisruptionBudget{}:          kit.Ours(),
		&autoscalingv2.HorizontalPodAutoscaler{}: kit.Ours(),
		&networkingv1.NetworkPolicy{}:            kit.Ours(),
		&networkingv1.Ingress{}:                  kit.Ours(),
		&nodev1.RuntimeClass{}:                   {}, // all classes, because their overhead counts in the quota
		&corev1.Pod{}:                            kit.Ours(),
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	loop := &kit.Loop[*customv1.MicroServiceDeploy, facts, decision]{
		Tools: r.Tools,
		New:   func() *customv1.MicroServiceDeploy { return &customv1.MicroServiceDeploy{} },
		Kind:  r,
	}
	byLabels := handler.EnqueueRequestsFromMapFunc(objectByLabels)
	ofUsers, err := r.WatchedSecrets(mgr, r.instancesOfSecret)
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
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(workload.ObjectsIn(r.Client, &customv1.MicroServiceDeployList{})), builder.WithPredicates(workload.EnforcementChanged)).
		Watches(&corev1.ResourceQuota{}, handler.EnqueueRequestsFromMapFunc(r.instancesOf), builder.WithPredicates(quotaChanged)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.instancesOfCredentials)).
		WatchesRawSource(ofUsers).
		WatchesRawSource(ctrlsource.Channel(r.troubles.Wake, handler.EnqueueRequestsFromMapFunc(r.instancesOf))).
		Watches(&customv1.MicroServiceDeploy{}, handler.EnqueueRequestsFromMapFunc(r.rivalsOf), builder.WithPredicates(claimsChanged)).
		WithOptions(loop.Options(workers))
	if r.Installed[hosts.RouteCRD] {
		b = b.Owns(httpRoutes())
	}
	return b.Complete(loop)
}
