// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdrestore

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kit"
)

type reconciler struct{ *kit.Tools }

// facts holds everything that is read about an EtcdRestore in one reconcile.
type facts struct {
	// cluster is the EtcdCluster that the EtcdRestore names; nil if it does not exist.
	cluster *etcdv1beta2.EtcdCluster
	// unfit and why are the condition reason and the message that explain why the cluster cannot start this restore.
	// Both are empty if nothing prevents it.
	unfit, why string
}

// Observe reads the cluster. Until the cluster has started the restore, it also checks that everything the restore
// needs exists.
func (r *reconciler) Observe(ctx context.Context, restore *etcdv1beta2.EtcdRestore) (facts, error) {
	cluster := &etcdv1beta2.EtcdCluster{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: restore.Namespace, Name: restore.Spec.EtcdCluster.Name}, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return facts{}, nil
	case err != nil:
		return facts{}, fmt.Errorf("read EtcdCluster: %w", err)
	}
	f := facts{cluster: cluster}
	if restore.Status.Succeeded || cluster.Status.Restore.TookUp(restore.UID) {
		return f, nil
	}
	f.unfit, f.why, err = backuppod.CannotBegin(ctx, r.Live, restore)
	return f, err
}
