// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

type option func(*etcdv1beta2.EtcdCluster)

// newCluster is the article's: three members of 3.5.35, formed.
func newCluster(options ...option) *etcdv1beta2.EtcdCluster {
	c := &etcdv1beta2.EtcdCluster{}
	c.Namespace, c.Name, c.UID, c.Generation = "shop", "example", "u-1", 1
	c.Spec.Size, c.Spec.Version = 3, "3.5.35"
	c.Status.ClusterID, c.Status.Serial, c.Status.CurrentVersion = "00000000000000c1", 2, "3.5.35"
	for _, o := range options {
		o(c)
	}
	return c
}

// unformed has not been seen whole yet.
func unformed(c *etcdv1beta2.EtcdCluster) { c.Status = etcdv1beta2.EtcdClusterStatus{} }

func sized(n int32) option                  { return func(c *etcdv1beta2.EtcdCluster) { c.Spec.Size = n } }
func versioned(v string) option             { return func(c *etcdv1beta2.EtcdCluster) { c.Spec.Version = v } }
func hibernates(c *etcdv1beta2.EtcdCluster) { c.Spec.Hibernate = true }

func withClaims(c *etcdv1beta2.EtcdCluster) {
	policy(c).PersistentVolumeClaimSpec = &corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}
}

func withEnv(name, value string) option {
	return func(c *etcdv1beta2.EtcdCluster) {
		policy(c).EtcdEnv = append(policy(c).EtcdEnv, etcdv1beta2.EnvVar{Name: name, Value: value})
	}
}

func withLabel(name, value string) option {
	return func(c *etcdv1beta2.EtcdCluster) { policy(c).Labels = map[string]string{name: value} }
}

func policy(c *etcdv1beta2.EtcdCluster) *etcdv1beta2.PodPolicy {
	if c.Spec.Pod == nil {
		c.Spec.Pod = &etcdv1beta2.PodPolicy{}
	}
	return c.Spec.Pod
}
