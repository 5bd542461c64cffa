// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"cmp"

	"k8s.io/utils/ptr"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
)

// orderVariable is where a pod has what it is to do: no shell and no expansion of Kubernetes sees it.
const orderVariable = "OPCREW_BACKUP_ORDER"

// Where a pod has what it works with.
const (
	storageMount = "/etc/opcrew/storage"
	tlsMount     = "/etc/opcrew/tls"
	folderMount  = "/backups"
	scratchMount = "/scratch"
)

// place is where backups are, and the field that names the Secret for it.
type place struct {
	target        backup.Target
	secret, field string
}

// placeOf reads the section of the storage type, which the schema wants to be there.
func placeOf(kind etcdv1beta2.StorageType, s etcdv1beta2.Storage) place {
	out := place{}
	switch {
	case kind == etcdv1beta2.StorageS3 && s.S3 != nil:
		out = place{backup.Target{Type: backup.S3, Path: s.S3.Path, Endpoint: s.S3.Endpoint, ForcePathStyle: s.S3.ForcePathStyle}, s.S3.AWSSecret, "s3.awsSecret"}
	case kind == etcdv1beta2.StorageABS && s.ABS != nil:
		out = place{backup.Target{Type: backup.ABS, Path: s.ABS.Path}, s.ABS.ABSSecret, "abs.absSecret"}
	case kind == etcdv1beta2.StorageGCS && s.GCS != nil:
		out = place{backup.Target{Type: backup.GCS, Path: s.GCS.Path}, s.GCS.GCPSecret, "gcs.gcpSecret"}
	case kind == etcdv1beta2.StorageOSS && s.OSS != nil:
		endpoint := cmp.Or(s.OSS.Endpoint, etcdv1beta2.DefaultOSSEndpoint)
		out = place{backup.Target{Type: backup.OSS, Path: s.OSS.Path, Endpoint: endpoint}, s.OSS.OSSSecret, "oss.ossSecret"}
	case kind == etcdv1beta2.StoragePVC && s.PVC != nil:
		out.target = backup.Target{Type: backup.Folder, Path: s.PVC.Path, Dir: folderMount}
	}
	if out.secret != "" {
		out.target.SecretDir = storageMount
	}
	return out
}

// orderOf tells a pod what to do.
func orderOf(b *etcdv1beta2.EtcdBackup, f facts, w work) backup.Order {
	o := backup.Order{
		ID: string(b.UID) + "/" + w.id(), Target: placeOf(b.Spec.StorageType, b.Spec.Storage).target,
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
	if periodic(b) {
		o.Save.Time, o.Save.Keep = w.due.UTC(), int(policyOf(b).MaxBackups)
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
