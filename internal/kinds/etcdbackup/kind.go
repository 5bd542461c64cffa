// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdbackup reconciles EtcdBackups: it saves the data of an etcd cluster, and verifies backups by restoring
// them in a temporary pod. A run is one backup with its attempts; each is a pod with a fixed name that reports its
// result in the termination message. Nothing here connects to etcd or a store: cmd/opcrew-backup does.
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

// The objects of the kind; patch is for the finalizer.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups,verbs=get;list;watch;patch
// The status.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/status,verbs=patch
// The owner references of pods block the deletion of the object.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/finalizers,verbs=update
// The cluster that is backed up.
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters,verbs=get;list;watch
// The pods that save a snapshot, and delete old ones.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// Whether the credentials and the volume of a backup exist.
// +kubebuilder:rbac:groups="",resources=secrets;persistentvolumeclaims,verbs=get
// Whether the CRD is installed, and by opcrew.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=etcdbackups.etcd.database.coreos.com,verbs=get

// workers is the number of objects that are reconciled at a time.
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
	pods := kit.Ours()
	return map[client.Object]cache.ByObject{
		&etcdv1beta2.EtcdBackup{}:  {},
		&etcdv1beta2.EtcdCluster{}: {},
		&corev1.Pod{}:              pods,
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

// whoSave enqueues the backups of a cluster, which may be waiting for it.
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

// cameUp passes on changes of an EtcdCluster that decide whether it can be saved: its first members, and hibernation.
var cameUp = kit.Updates(func(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*etcdv1beta2.EtcdCluster), e.ObjectNew.(*etcdv1beta2.EtcdCluster)
	return len(was.Status.Membership) == 0 && len(is.Status.Membership) > 0 || was.Spec.Hibernate != is.Spec.Hibernate
})
