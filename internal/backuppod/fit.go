// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backuppod

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// CannotBegin returns why an EtcdRestore cannot start: its spec is invalid, or an object that the spec names does not
// exist. An empty reason means that the restore can start. Whether the backup exists and is valid is only checked
// later, in the pod.
func CannotBegin(ctx context.Context, reader client.Reader, r *etcdv1beta2.EtcdRestore) (reason, message string, err error) {
	place := PlaceOf(r.Spec.BackupStorageType, r.Spec.Storage)
	if why := invalid(r, place); why != "" {
		return etcdv1beta2.ReasonInvalidSpec, why, nil
	}
	return Missing(ctx, reader, r.Namespace, place.Needs())
}

// invalid returns what is wrong with the spec of an EtcdRestore; "" if the spec is valid. The result is the same for
// every member of the cluster.
func invalid(r *etcdv1beta2.EtcdRestore, place Place) string {
	const member = "member"
	order := backup.Order{ID: member, Target: place.Target, Restore: &backup.Restore{
		Object: r.Spec.Object, RevisionBump: r.Spec.RevisionBump,
		DataDir: "/data/" + member, Name: member, InitialCluster: member, Token: member, PeerURLs: []string{member},
	}}
	if err := order.Check(); err != nil {
		return err.Error()
	}
	return ""
}
