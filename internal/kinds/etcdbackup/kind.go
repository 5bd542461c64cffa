// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdbackup reconciles EtcdBackups. A run saves one backup of an etcd cluster and may verify it by a restore
// in a temporary pod. Each attempt is one pod with a fixed name; the pod reports its result in its termination message.
// Only this pod (cmd/opcrew-backup) connects to etcd and to the storage.
package etcdbackup

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
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

// Read the EtcdBackups; patch removes a finalizer of the CoreOS operator.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups,verbs=get;list;watch;patch
// Write the status of the EtcdBackups.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/status,verbs=patch
// Set owner references on pods that block the deletion of an EtcdBackup until the pods are gone.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/finalizers,verbs=update
// Read the members of the EtcdCluster that is backed up.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters,verbs=get;list;watch
// Run the pods that save and verify backups, and delete old pods.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// Check that the credentials and the volume of a backup exist.
// +kubebuilder:rbac:groups="",resources=secrets;persistentvolumeclaims,verbs=get
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=etcdbackups.etcd.database.coreos.com,verbs=get

// workers is the number of objects that are reconciled concurrently.
const workers = 4

// Kind returns the registration of EtcdBackup.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "etcdbackup",
		Layer:       kit.Data,
		CRDs:        []string{"etcdbackups.etcd.database.coreos.com", "etcdclusters.etcd.database.coreos.com"},
		AddToScheme: etcdv1beta2.AddToScheme,
		Cache:       cached,
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			m, err := newGauges(tools.Registry)
			if err != nil {
				return err
			}
			return setup(mgr, &reconciler{Tools: tools, metrics: m})
		},
	}
}

func cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&etcdv1beta2.EtcdBackup{}:  {},
		&etcdv1beta2.EtcdCluster{}: {},
		&corev1.Pod{}:              kit.Ours(),
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	loop := &kit.Loop[*etcdv1beta2.EtcdBackup, facts, verdict]{
		Tools:   r.Tools,
		New:     func() *etcdv1beta2.EtcdBackup { return &etcdv1beta2.EtcdBackup{} },
		Kind:    r,
		Records: r.records,
		After:   r.metrics.set,
		Forget:  []func(client.ObjectKey){r.metrics.forget},
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("etcdbackup").
		For(&etcdv1beta2.EtcdBackup{}).
		Owns(&corev1.Pod{}).
		Watches(&etcdv1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(r.whoSave), builder.WithPredicates(cameUp)).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// whoSave enqueues the EtcdBackups of a cluster, as a backup may be waiting for the cluster to become available.
func (r *reconciler) whoSave(ctx context.Context, cluster client.Object) []reconcile.Request {
	list := &etcdv1beta2.EtcdBackupList{}
	if err := r.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		b := &list.Items[i]
		if b.Spec.EtcdCluster != nil && b.Spec.EtcdCluster.Name == cluster.GetName() {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: b.Namespace, Name: b.Name}})
		}
	}
	return out
}

// cameUp selects the updates of an EtcdCluster that may change whether the cluster can be backed up: the cluster gets
// its first members, or spec.hibernate changes.
var cameUp = kit.Updates(func(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*etcdv1beta2.EtcdCluster), e.ObjectNew.(*etcdv1beta2.EtcdCluster)
	return len(was.Status.Membership) == 0 && len(is.Status.Membership) > 0 || was.Spec.Hibernate != is.Spec.Hibernate
})
