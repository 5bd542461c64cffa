// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backuppod is shared by the kinds whose pods save, verify and restore etcd backups. It describes where backups
// are stored, which volumes give access to them, and how a pod receives its order (a backup task). The kinds decide
// which pods exist. internal/podapi/backup defines the orders.
package backuppod

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// These are the paths at which a container mounts the volumes of a backup or restore pod.
const (
	secretMount = "/etc/opcrew/storage"
	folderMount = "/backups"
)

// Labels returns the labels of pods that save and verify backups. A NetworkPolicy allows pods with these labels to
// connect to etcd members.
func Labels() map[string]string { return map[string]string{"app.kubernetes.io/name": "etcdbackup"} }

// orderVariable is the environment variable with the order (a backup task). Its value comes from an annotation, so
// neither a shell nor variable expansion by Kubernetes changes it.
const orderVariable = "OPCREW_BACKUP_ORDER"

// Place is where backups are stored.
type Place struct {
	Target backup.Target
	// Secret is the user's Secret that grants access to a bucket, and Field the field that names it. Both are empty if
	// no Secret is needed.
	Secret, Field string
	// Claim is the claim whose volume holds the backups; empty if they are in a bucket.
	Claim string
}

// PlaceOf returns where backups are stored, from the section of the spec for the given storage type. The CRD schema
// requires that this section is set.
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

// Mount is a volume of a pod and its mount path in a container.
type Mount struct {
	Name, Path string
	ReadOnly   bool
	Volume     *corev1ac.VolumeApplyConfiguration
}

// Mounts returns the mounts that give a container access to the backups.
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

// SecretMount returns a mount of a Secret as files.
func SecretMount(name, path, secret string) Mount {
	source := corev1ac.SecretVolumeSource().WithSecretName(secret).WithDefaultMode(0o440)
	return Mount{name, path, true, corev1ac.Volume().WithName(name).WithSecret(source)}
}

// WithMounts adds mounts to a container.
func WithMounts(c *corev1ac.ContainerApplyConfiguration, mounts []Mount) {
	for _, m := range mounts {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName(m.Name).WithMountPath(m.Path).WithReadOnly(m.ReadOnly))
	}
}

// WithOrder makes a container carry out the order (a backup task) in an annotation of its pod, and report the result in
// its termination message.
func WithOrder(c *corev1ac.ContainerApplyConfiguration, command, annotation string) *corev1ac.ContainerApplyConfiguration {
	return c.WithArgs(command).
		WithEnv(corev1ac.EnvVar().WithName(orderVariable).WithValueFrom(corev1ac.EnvVarSource().
			WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.annotations['" + annotation + "']")))).
		WithTerminationMessagePath(corev1.TerminationMessagePathDefault).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile)
}
