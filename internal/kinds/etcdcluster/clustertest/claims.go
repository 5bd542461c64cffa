// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Claim returns an option that changes the spec of members' claims.
func Claim(change func(*corev1.PersistentVolumeClaimSpec)) Option {
	return func(c *etcdv1beta2.EtcdCluster) { change(PodPolicy(c).PersistentVolumeClaimSpec) }
}

func StorageClass(name string) Option {
	return Claim(func(spec *corev1.PersistentVolumeClaimSpec) { spec.StorageClassName = &name })
}

func AccessModes(modes ...corev1.PersistentVolumeAccessMode) Option {
	return Claim(func(spec *corev1.PersistentVolumeClaimSpec) { spec.AccessModes = modes })
}

func Storage(size string) Option {
	return Claim(func(spec *corev1.PersistentVolumeClaimSpec) {
		spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	})
}
