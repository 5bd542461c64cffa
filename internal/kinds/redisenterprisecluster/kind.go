// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisenterprisecluster reconciles clusters of Redis or Valkey. Each pod has two servers: its home server
// should be the primary of the pod's own shard, and its guest server replicates another pod's shard. The subpackages
// contain the rules for what to do.
package redisenterprisecluster

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/steps"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/workload"
)

// Read the RedisEnterpriseCluster objects.
// +kubebuilder:rbac:groups=app.redislabs.com,resources=redisenterpriseclusters,verbs=get;list;watch
// Write the status.
// +kubebuilder:rbac:groups=app.redislabs.com,resources=redisenterpriseclusters/status,verbs=patch
// Set owner references that block the deletion of a RedisEnterpriseCluster until its children are deleted.
// +kubebuilder:rbac:groups=app.redislabs.com,resources=redisenterpriseclusters/finalizers,verbs=update
// Manage the StatefulSet of the servers, and recreate it when an immutable field must change.
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// Manage the Services, the configuration, a service account without rights, and the passwords, and read Secrets that
// the object names.
// +kubebuilder:rbac:groups="",resources=services;configmaps;serviceaccounts;secrets,verbs=get;list;watch;create;patch
// Manage the NetworkPolicy that decides which pods and clients may reach the servers.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch
// Manage the PodDisruptionBudget of the pods.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// Read pods, and delete a pod to restart it with a new template.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// Read volume claims, and enlarge them when the spec requests larger volumes.
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;patch
// Read storage classes to check whether a volume can grow.
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get
// Read nodes to report where pods run and to detect lost nodes.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// Read events to report why a volume or a pod cannot be created.
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=redisenterpriseclusters.app.redislabs.com,verbs=get

// workers is the number of clusters that are reconciled concurrently.
const workers = 8

// Kind returns the registration of RedisEnterpriseCluster.
func Kind() kit.Registration {
	return kindWith(func(tools *kit.Tools) redis.Dialer { return redis.DialThrough(tools.DialPod) })
}

// KindWith returns the registration with another way to connect to servers. Only tests use it.
func KindWith(dial redis.Dialer) kit.Registration {
	return kindWith(func(*kit.Tools) redis.Dialer { return dial })
}

func kindWith(dialer func(*kit.Tools) redis.Dialer) kit.Registration {
	return kit.Registration{
		Name:        "redisenterprisecluster",
		Layer:       kit.Data,
		Outside:     "servers are reached by port-forward",
		CRDs:        []string{"redisenterpriseclusters.app.redislabs.com"},
		AddToScheme: redisv1alpha1.AddToScheme,
		Cache:       cached,
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			prober := redis.NewProber(dialer(tools), tools.Clock, nil)
			if err := mgr.Add(prober); err != nil {
				return err
			}
			r := &reconciler{
				Tools: tools, prober: prober,
				refusals: workload.Refusals{Live: tools.Live, Clock: tools.Clock}, unbound: workload.NewUnbound(tools.Live, tools.Clock),
				classes: workload.Classes{Live: tools.Live, Clock: tools.Clock},
			}
			r.steps = &steps.Runner{Prober: prober, Memory: &r.memory, Client: tools.Client, Live: tools.Live, Clock: tools.Clock}
			return setup(mgr, r)
		},
	}
}

func cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&redisv1alpha1.RedisEnterpriseCluster{}: {},
		&appsv1.StatefulSet{}:                   kit.Ours(),
		&corev1.Service{}:                       kit.Ours(),
		&corev1.ConfigMap{}:                     kit.Ours(),
		&corev1.Secret{}:                        kit.Ours(),
		&corev1.ServiceAccount{}:                kit.Ours(),
		&corev1.PersistentVolumeClaim{}:         kit.Ours(),
		&networkingv1.NetworkPolicy{}:           kit.Ours(),
		&policyv1.PodDisruptionBudget{}:         kit.Ours(),
		&corev1.Pod{}:                           kit.Ours(),
		&corev1.Node{}:                          {},
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	loop := &kit.Loop[*redisv1alpha1.RedisEnterpriseCluster, facts, decision]{
		Tools:  r.Tools,
		New:    func() *redisv1alpha1.RedisEnterpriseCluster { return &redisv1alpha1.RedisEnterpriseCluster{} },
		Kind:   r,
		After:  r.after,
		Forget: []func(client.ObjectKey){r.prober.Forget, r.memory.Forget, r.refusals.Forget, r.unbound.Forget},
	}
	userSecrets, err := r.WatchedSecrets(mgr, r.referrers)
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("redisenterprisecluster").
		For(&redisv1alpha1.RedisEnterpriseCluster{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(clusterOfLabel)).
		Watches(&corev1.Node{}, workload.ForPodsOn(r.Client, clusterOfLabel), builder.WithPredicates(workload.ZoneChanged())).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(clusterOfLabel), builder.WithPredicates(volumeChanges())).
		WatchesRawSource(userSecrets).
		WatchesRawSource(source.Channel(r.prober.Events(), &handler.EnqueueRequestForObject{})).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// clusterOfLabel returns a request for the cluster that the label of a pod or a volume claim names. It uses the label
// because the owner reference names the StatefulSet, not the cluster.
func clusterOfLabel(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[redisv1alpha1.ClusterLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{request(object.GetNamespace(), name)}
}

// volumeChanges selects updates that change the status of a volume claim, delete it or replace it. It ignores
// annotations that other controllers write.
func volumeChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*corev1.PersistentVolumeClaim), e.ObjectNew.(*corev1.PersistentVolumeClaim)
		return before.UID != after.UID || !equality.Semantic.DeepEqual(before.Status, after.Status) ||
			!before.DeletionTimestamp.Equal(after.DeletionTimestamp)
	}}
}

// referrers returns requests for the clusters whose spec names a Secret.
func (r *reconciler) referrers(ctx context.Context, secret client.Object) []reconcile.Request {
	list := &redisv1alpha1.RedisEnterpriseClusterList{}
	if err := r.Client.List(ctx, list, client.InNamespace(secret.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if c := &list.Items[i]; desired.UserSecret(c) == secret.GetName() || desired.PageSecret(c) == secret.GetName() {
			out = append(out, request(list.Items[i].Namespace, list.Items[i].Name))
		}
	}
	return out
}

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}
