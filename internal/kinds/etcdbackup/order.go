// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Where a pod has what it works with, beside the backups.
const (
	tlsMount     = "/etc/opcrew/tls"
	scratchMount = "/scratch"
)

func placeOf(b *etcdv1beta2.EtcdBackup) backuppod.Place {
	return backuppod.PlaceOf(b.Spec.StorageType, b.Spec.Storage)
}

// whereTo is where backups go to, and of what, in words: what was proven of others proves nothing of these.
func whereTo(b *etcdv1beta2.EtcdBackup) string {
	p := placeOf(b)
	words := []string{string(b.Spec.StorageType), p.Claim, p.Target.Endpoint, p.Target.Path}
	if b.Spec.EtcdCluster != nil {
		words = append(words, "of EtcdCluster "+b.Spec.EtcdCluster.Name)
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// moved reports whether the spec has backups go elsewhere by now, or be of another cluster.
func moved(b *etcdv1beta2.EtcdBackup, place string) bool { return place != "" && place != whereTo(b) }

// orderOf tells a pod what to do.
func orderOf(b *etcdv1beta2.EtcdBackup, f facts, w work) backup.Order {
	o := backup.Order{
		ID: string(b.UID) + "/" + w.orderID(), Target: placeOf(b).Target,
		TimeoutSeconds: int64(limitOf(b, w.task).Seconds()),
	}
	if w.task == verify {
		o.Verify = &backup.Verify{Object: ptr.Deref(b.Status.Last, etcdv1beta2.BackupRecord{}).Object, ScratchDir: scratchMount}
		return o
	}
	o.Save = &backup.Save{Endpoints: endpoints(b, f.cluster)}
	if tlsSecret(b, f.cluster) != "" {
		o.Save.TLSDir = tlsMount
	}
	if f.cluster != nil {
		o.Save.Former = f.cluster.Status.FormerClusterIDs
	}
	if periodic(b) {
		o.Save.Time, o.Save.Keep = w.due.UTC(), int(policyOf(b).MaxBackups)
		o.Save.Spare = ptr.Deref(b.Status.Verified, etcdv1beta2.BackupRecord{}).Object
	}
	return o
}

// endpoints are the client URLs of the members: those that are named, or that vote in the EtcdCluster.
func endpoints(b *etcdv1beta2.EtcdBackup, cluster *etcdv1beta2.EtcdCluster) []string {
	if cluster == nil {
		return b.Spec.EtcdEndpoints
	}
	var out []string
	for _, m := range cluster.Status.Membership {
		if !m.Learner {
			out = append(out, cluster.ClientURL(m.Name))
		}
	}
	return out
}

// tlsSecret is what the pod shows the members; empty without TLS.
func tlsSecret(b *etcdv1beta2.EtcdBackup, cluster *etcdv1beta2.EtcdCluster) string {
	if b.Spec.ClientTLSSecret != "" || cluster == nil {
		return b.Spec.ClientTLSSecret
	}
	return cluster.OperatorSecret()
}
