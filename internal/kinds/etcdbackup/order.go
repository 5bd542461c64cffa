// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/agenda"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Mount paths in a backup pod, for the client certificate and for the scratch space of a verification.
const (
	tlsMount     = "/etc/opcrew/tls"
	scratchMount = "/scratch"
)

func placeOf(b *etcdv1beta2.EtcdBackup) backuppod.Place {
	return backuppod.PlaceOf(b.Spec.StorageType, b.Spec.Storage)
}

// whereTo describes the storage of the backups and the cluster that is backed up. The status records this text with
// each backup, so that opcrew notices when the spec names another storage or cluster.
func whereTo(b *etcdv1beta2.EtcdBackup) string {
	p := placeOf(b)
	words := []string{string(b.Spec.StorageType), p.Claim, p.Target.Endpoint, p.Target.Path}
	if b.Spec.EtcdCluster != nil {
		words = append(words, "of EtcdCluster "+b.Spec.EtcdCluster.Name)
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// moved reports whether the storage or the cluster in the spec differs from place, which whereTo returned earlier and
// the status recorded. A change from http to https does not count, because the default scheme for OSS changed.
func moved(b *etcdv1beta2.EtcdBackup, place string) bool {
	return place != "" && withoutTLS(place) != withoutTLS(whereTo(b))
}

func withoutTLS(place string) string { return strings.ReplaceAll(place, "https://", "http://") }

// orderOf returns the order for a pod: which backup to save or verify, in which storage, and the time limit.
func orderOf(b *etcdv1beta2.EtcdBackup, cluster *etcdv1beta2.EtcdCluster, w work) backup.Order {
	o := backup.Order{
		ID: string(b.UID) + "/" + w.orderID(), Target: placeOf(b).Target,
		TimeoutSeconds: int64(limitOf(b, w.task).Seconds()),
	}
	if w.task == verify {
		o.Verify = &backup.Verify{Object: ptr.Deref(b.Status.Last, etcdv1beta2.BackupRecord{}).Object, ScratchDir: scratchMount}
		return o
	}
	o.Save = &backup.Save{Endpoints: endpoints(b, cluster)}
	if tlsSecret(b, cluster) != "" {
		o.Save.TLSDir = tlsMount
	}
	if cluster != nil {
		o.Save.Former = cluster.Status.FormerClusterIDs
	}
	if agenda.Periodic(b) {
		o.Save.Time, o.Save.Keep = w.due.UTC(), int(agenda.Policy(b).MaxBackups)
		o.Save.Spare = ptr.Deref(b.Status.Verified, etcdv1beta2.BackupRecord{}).Object
	}
	return o
}

// endpoints returns the client URLs to read from: the URLs in the spec, or those of the EtcdCluster's voters.
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

// tlsSecret returns the name of the Secret with the client certificate for etcd; empty if TLS is not used.
func tlsSecret(b *etcdv1beta2.EtcdBackup, cluster *etcdv1beta2.EtcdCluster) string {
	if b.Spec.ClientTLSSecret != "" || cluster == nil {
		return b.Spec.ClientTLSSecret
	}
	return cluster.OperatorSecret()
}
