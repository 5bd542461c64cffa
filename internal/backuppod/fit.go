// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backuppod

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Unfit says why an EtcdRestore cannot begin: what it asks for makes no sense, or an object is not there that it
// names. Without a reason it can; whether the backup is there and good is for the pod to find out.
func Unfit(ctx context.Context, reader client.Reader, r *etcdv1beta2.EtcdRestore) (reason, message string, err error) {
	place := PlaceOf(r.Spec.BackupStorageType, r.Spec.Storage)
	if why := senseless(r, place); why != "" {
		return etcdv1beta2.ReasonInvalidSpec, why, nil
	}
	return Missing(ctx, reader, r.Namespace, place.Needs())
}

// senseless says what is wrong with the order, whichever member is to carry it out.
func senseless(r *etcdv1beta2.EtcdRestore, place Place) string {
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
