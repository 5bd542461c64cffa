// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdrestore reports the progress of the restore of an EtcdCluster in the status of its EtcdRestore. The
// restore itself is carried out by internal/kinds/etcdcluster, which knows the members of the cluster.
package etcdrestore

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// The objects of the kind, and the cluster that they fill.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores;etcdclusters,verbs=get;list;watch
// The status.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores/status,verbs=patch
// Whether the credentials and the volume with the snapshot exist.
// +kubebuilder:rbac:groups="",resources=secrets;persistentvolumeclaims,verbs=get
// Whether the CRD is installed, and by opcrew.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=etcdrestores.etcd.database.coreos.com,verbs=get

// workers is the number of objects that are reconciled at a time.
const workers = 2

// Kind returns the registration of EtcdRestore.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "etcdrestore",
		Layer:       kit.Data,
		CRDs:        []string{"etcdrestores.etcd.database.coreos.com", "etcdclusters.etcd.database.coreos.com"},
		AddToScheme: etcdv1beta2.AddToScheme,
		Cache: func() map[client.Object]cache.ByObject {
			return map[client.Object]cache.ByObject{&etcdv1beta2.EtcdRestore{}: {}, &etcdv1beta2.EtcdCluster{}: {}}
		},
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error { return setup(mgr, &reconciler{Tools: tools}) },
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	loop := &kit.Loop[*etcdv1beta2.EtcdRestore, facts, decision]{
		Tools: r.Tools,
		New:   func() *etcdv1beta2.EtcdRestore { return &etcdv1beta2.EtcdRestore{} },
		Kind:  r,
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("etcdrestore").
		For(&etcdv1beta2.EtcdRestore{}).
		Watches(&etcdv1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(ofItsName), builder.WithPredicates(wentOn)).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// ofItsName enqueues the restore that has the name of the cluster.
func ofItsName(_ context.Context, cluster client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(cluster)}}
}

// wentOn passes on changes of a cluster that matter to a restore: its progress, whether it serves clients, and whether
// it is paused or hibernated.
var wentOn = kit.Updates(func(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*etcdv1beta2.EtcdCluster), e.ObjectNew.(*etcdv1beta2.EtcdCluster)
	return !equality.Semantic.DeepEqual(was.Status.Restore, is.Status.Restore) || serves(was) != serves(is) || held(was) != held(is)
})
