// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdrestore reports the progress of a restore in the status of its EtcdRestore. Package etcdcluster carries
// out the restore, as it reconciles the members of the cluster.
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

// Read the EtcdRestores, and the EtcdClusters that they restore.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores;etcdclusters,verbs=get;list;watch
// Write the status of the EtcdRestores.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores/status,verbs=patch
// Check that the credentials and the volume with the backup exist.
// +kubebuilder:rbac:groups="",resources=secrets;persistentvolumeclaims,verbs=get
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=etcdrestores.etcd.database.coreos.com,verbs=get

// workers is the number of objects that are reconciled concurrently.
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

// ofItsName enqueues the EtcdRestore that has the same name as an EtcdCluster.
func ofItsName(_ context.Context, cluster client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(cluster)}}
}

// wentOn passes on the changes of a cluster that matter to its restore: the progress of the restore, whether the
// cluster serves clients, and whether it is paused or hibernates.
var wentOn = kit.Updates(func(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*etcdv1beta2.EtcdCluster), e.ObjectNew.(*etcdv1beta2.EtcdCluster)
	return !equality.Semantic.DeepEqual(was.Status.Restore, is.Status.Restore) || serves(was) != serves(is) || held(was) != held(is)
})
