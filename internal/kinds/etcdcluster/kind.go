// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdcluster reconciles EtcdClusters. etcd's member list determines the members; pods are matched to them. At
// most one thing changes at a time, and only with a healthy quorum. Subpackages contain the rules. This package
// collects their inputs (inputs.go), applies them in order (decide.go), and turns decisions into plans and statuses.
package etcdcluster

import (
	"context"

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
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/certificates"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// Read the EtcdClusters.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters,verbs=get;list;watch
// Read the EtcdRestore from which a cluster is restored.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores,verbs=get;list;watch
// Find the backup from which a cluster that lost all members can recover.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups,verbs=list
// Write the status of the EtcdClusters.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters/status,verbs=patch
// Set owner references on children that block the deletion of an EtcdCluster.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters/finalizers,verbs=update
// Create the Services of a cluster, and the ConfigMap that describes how to connect.
// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=get;list;watch;create;patch
// Create and delete the pods and volume claims of members.
// +kubebuilder:rbac:groups="",resources=pods;persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// Change the memory and CPU of a running member.
// +kubebuilder:rbac:groups="",resources=pods/resize,verbs=patch
// Learn where members run, and whether a node is lost.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// Learn which node a local volume is bound to.
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// Check whether a volume can grow.
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get
// Read the certificate Secrets by name; list and watch only the metadata of Secrets with the label opcrew.io/watch.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// Explain why a volume or a pod cannot be created.
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// Restrict which pods and clients may reach the ports of members.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch
// Create the disruption budget that protects the quorum, and delete it when a cluster has only one member.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// Read its own CRDs to check that opcrew installed them.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=etcdclusters.etcd.database.coreos.com,verbs=get

// workers is the number of objects that are reconciled concurrently.
const workers = 8

// Kind returns the registration of EtcdCluster.
func Kind() kit.Registration {
	return kindWith(func(tools *kit.Tools) etcd.Dialer { return etcd.DialThrough(tools.DialPod) })
}

// KindWith returns the registration with another way to connect to etcd clusters, for tests.
func KindWith(dial etcd.Dialer) kit.Registration {
	return kindWith(func(*kit.Tools) etcd.Dialer { return dial })
}

func kindWith(dialer func(*kit.Tools) etcd.Dialer) kit.Registration {
	return kit.Registration{
		Name:        "etcdcluster",
		Layer:       kit.Data,
		Outside:     "members are reached by port-forward",
		CRDs:        []string{"etcdclusters.etcd.database.coreos.com", "etcdrestores.etcd.database.coreos.com"},
		AddToScheme: etcdv1beta2.AddToScheme,
		Cache:       cached,
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			prober := etcd.NewProber(dialer(tools), tools.Clock, nil)
			if err := mgr.Add(prober); err != nil {
				return err
			}
			if err := newSizes(tools.Registry, prober); err != nil {
				return err
			}
			standards, err := podsecurity.NewGuard()
			if err != nil {
				return err
			}
			return setup(mgr, &reconciler{
				Tools: tools, prober: prober, unbound: workload.NewUnbound(tools.Live, tools.Clock),
				classes: workload.Classes{Live: tools.Live, Clock: tools.Clock}, standards: standards,
			})
		},
	}
}

func cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&etcdv1beta2.EtcdCluster{}:      {},
		&etcdv1beta2.EtcdRestore{}:      {},
		&corev1.Service{}:               kit.Ours(),
		&corev1.ConfigMap{}:             kit.Ours(),
		&corev1.PersistentVolumeClaim{}: kit.Ours(),
		&networkingv1.NetworkPolicy{}:   kit.Ours(),
		&policyv1.PodDisruptionBudget{}: kit.Ours(),
		&corev1.Pod{}:                   kit.Ours(),
		&corev1.Node{}:                  {},
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	loop := &kit.Loop[*etcdv1beta2.EtcdCluster, facts, decision]{
		Tools:       r.Tools,
		New:         func() *etcdv1beta2.EtcdCluster { return &etcdv1beta2.EtcdCluster{} },
		Kind:        r,
		Transitions: r.transitions,
		Records:     r.records,
		Overridden:  func(c *etcdv1beta2.EtcdCluster, _ facts) (string, string) { return build.Shadowed(c) },
		Forget:      []func(client.ObjectKey){r.forget},
	}
	ofUsers, err := r.WatchedSecrets(mgr, r.whoReferTo)
	if err != nil {
		return err
	}
	seen := source.Channel(r.prober.Events(), &handler.EnqueueRequestForObject{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("etcdcluster").
		For(&etcdv1beta2.EtcdCluster{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Pod{}).
		Owns(&corev1.PersistentVolumeClaim{}, builder.WithPredicates(claimChanged)).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.whoseMembersAreOn), builder.WithPredicates(nodeChanged)).
		Watches(&etcdv1beta2.EtcdRestore{}, handler.EnqueueRequestsFromMapFunc(ofItsName), builder.WithPredicates(specChanged)).
		WatchesRawSource(ofUsers).
		WatchesRawSource(seen).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// claimChanged passes on changes of a claim's status and its deletion. It drops all other updates, such as annotations
// that other controllers set.
var claimChanged = kit.Updates(func(e event.UpdateEvent) bool {
	old, now := e.ObjectOld.(*corev1.PersistentVolumeClaim), e.ObjectNew.(*corev1.PersistentVolumeClaim)
	return !equality.Semantic.DeepEqual(old.Status, now.Status) || !equality.Semantic.DeepEqual(old.DeletionTimestamp, now.DeletionTimestamp)
})

// specChanged passes on only changes of the spec.
var specChanged = kit.Updates(func(e event.UpdateEvent) bool { return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() })

// nodeChanged passes on changes of the fields in model.Node. It drops all other updates, such as heartbeats.
var nodeChanged = kit.Updates(func(e event.UpdateEvent) bool {
	return model.NodeOf(e.ObjectOld.(*corev1.Node)) != model.NodeOf(e.ObjectNew.(*corev1.Node))
})

// whoseMembersAreOn enqueues the clusters that have a pod on the node.
func (r *reconciler) whoseMembersAreOn(ctx context.Context, n client.Object) []reconcile.Request {
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.MatchingLabels{etcdv1beta2.AppLabel: etcdv1beta2.AppName}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == n.GetName() {
			out = append(out, request(pods.Items[i].Namespace, pods.Items[i].Labels[etcdv1beta2.ClusterLabel]))
		}
	}
	return out
}

// ofItsName enqueues the EtcdCluster that has the same name as an EtcdRestore.
func ofItsName(_ context.Context, restore client.Object) []reconcile.Request {
	return []reconcile.Request{request(restore.GetNamespace(), restore.GetName())}
}

// whoReferTo enqueues the clusters whose spec names the Secret.
func (r *reconciler) whoReferTo(ctx context.Context, secret client.Object) []reconcile.Request {
	list := &etcdv1beta2.EtcdClusterList{}
	if err := r.Client.List(ctx, list, client.InNamespace(secret.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		for _, b := range certificates.Bundles(&list.Items[i]) {
			if b.Secret == secret.GetName() {
				out = append(out, request(list.Items[i].Namespace, list.Items[i].Name))
				break
			}
		}
	}
	return out
}

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}
