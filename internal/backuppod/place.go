// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backuppod is what the pods have in common that save, verify and restore backups of
// etcd: where the backups are, what is mounted for that, and how a pod learns what it is to do.
// What the pods are for is the kinds' own, and what they do is internal/podapi/backup's.
package backuppod

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Where a container has what it works with.
const (
	secretMount = "/etc/opcrew/storage"
	folderMount = "/backups"
)

// orderVariable is where a container has what it is to do: no shell and no expansion of Kubernetes sees it.
const orderVariable = "OPCREW_BACKUP_ORDER"

// Place is where backups are.
type Place struct {
	Target backup.Target
	// Secret of the user that opens it, and the field that names it; empty: none is needed.
	Secret, Field string
	// Claim on whose volume they are; empty: they are in a bucket.
	Claim string
}

// PlaceOf reads the section of the storage type, which the schema wants to be there.
func PlaceOf(kind etcdv1beta2.StorageType, s etcdv1beta2.Storage) Place {
	out := Place{}
	switch {
	case kind == etcdv1beta2.StorageS3 && s.S3 != nil:
		out.Target = backup.Target{Type: backup.S3, Path: s.S3.Path, Endpoint: s.S3.Endpoint, ForcePathStyle: s.S3.ForcePathStyle}
		out.Secret, out.Field = s.S3.AWSSecret, "s3.awsSecret"
	case kind == etcdv1beta2.StorageABS && s.ABS != nil:
		out.Target = backup.Target{Type: backup.ABS, Path: s.ABS.Path}
		out.Secret, out.Field = s.ABS.ABSSecret, "abs.absSecret"
	case kind == etcdv1beta2.StorageGCS && s.GCS != nil:
		out.Target = backup.Target{Type: backup.GCS, Path: s.GCS.Path}
		out.Secret, out.Field = s.GCS.GCPSecret, "gcs.gcpSecret"
	case kind == etcdv1beta2.StorageOSS && s.OSS != nil:
		out.Target = backup.Target{Type: backup.OSS, Path: s.OSS.Path, Endpoint: cmp.Or(s.OSS.Endpoint, etcdv1beta2.DefaultOSSEndpoint)}
		out.Secret, out.Field = s.OSS.OSSSecret, "oss.ossSecret"
	case kind == etcdv1beta2.StoragePVC && s.PVC != nil:
		out.Target = backup.Target{Type: backup.Folder, Path: s.PVC.Path, Dir: folderMount}
		out.Claim = s.PVC.ClaimName
	}
	if out.Secret != "" {
		out.Target.SecretDir = secretMount
	}
	return out
}

// Mount is a volume of a pod, and where a container has it.
type Mount struct {
	Name, Path string
	ReadOnly   bool
	Volume     *corev1ac.VolumeApplyConfiguration
}

// Mounts are those by which a container gets at the backups.
func (p Place) Mounts(readOnly bool) []Mount {
	var out []Mount
	if p.Secret != "" {
		out = append(out, SecretMount("storage", secretMount, p.Secret))
	}
	if p.Claim != "" {
		claim := corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(p.Claim)
		out = append(out, Mount{"backups", folderMount, readOnly, corev1ac.Volume().WithName("backups").WithPersistentVolumeClaim(claim)})
	}
	return out
}

// SecretMount has a Secret for its files.
func SecretMount(name, path, secret string) Mount {
	source := corev1ac.SecretVolumeSource().WithSecretName(secret).WithDefaultMode(0o440)
	return Mount{name, path, true, corev1ac.Volume().WithName(name).WithSecret(source)}
}

// Mounted gives a container its mounts.
func Mounted(c *corev1ac.ContainerApplyConfiguration, mounts []Mount) {
	for _, m := range mounts {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName(m.Name).WithMountPath(m.Path).WithReadOnly(m.ReadOnly))
	}
}

// Ordered has a container do what an annotation of its pod says, and tell in its last words how that ended.
func Ordered(c *corev1ac.ContainerApplyConfiguration, command, annotation string) *corev1ac.ContainerApplyConfiguration {
	return c.WithArgs(command).
		WithEnv(corev1ac.EnvVar().WithName(orderVariable).WithValueFrom(corev1ac.EnvVarSource().
			WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.annotations['" + annotation + "']")))).
		WithTerminationMessagePath(corev1.TerminationMessagePathDefault).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile)
}
