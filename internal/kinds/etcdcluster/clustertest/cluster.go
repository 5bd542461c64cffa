// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustertest builds EtcdClusters for the tests of package etcdcluster and its subpackages.
package clustertest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

var Noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

type Option func(*etcdv1beta2.EtcdCluster)

// New returns an EtcdCluster with three members of etcd 3.5.35. Its first members have already formed the cluster.
func New(options ...Option) *etcdv1beta2.EtcdCluster {
	c := &etcdv1beta2.EtcdCluster{}
	c.Namespace, c.Name, c.UID, c.Generation = "shop", "example", "u-1", 1
	c.Spec.Size, c.Spec.Version = 3, "3.5.35"
	c.Status.ClusterID, c.Status.Serial, c.Status.CurrentVersion = "00000000000000c1", 2, "3.5.35"
	for _, o := range options {
		o(c)
	}
	return c
}

// Unformed clears the status. The cluster then counts as new: its first members have not had a quorum yet.
func Unformed(c *etcdv1beta2.EtcdCluster) { c.Status = etcdv1beta2.EtcdClusterStatus{} }

func Sized(n int32) Option { return func(c *etcdv1beta2.EtcdCluster) { c.Spec.Size = n } }

func Versioned(v string) Option { return func(c *etcdv1beta2.EtcdCluster) { c.Spec.Version = v } }

func Hibernates(c *etcdv1beta2.EtcdCluster) { c.Spec.Hibernate = true }

func WithClaims(c *etcdv1beta2.EtcdCluster) {
	PodPolicy(c).PersistentVolumeClaimSpec = &corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}
}

func WithEnv(name, value string) Option {
	return func(c *etcdv1beta2.EtcdCluster) {
		PodPolicy(c).EtcdEnv = append(PodPolicy(c).EtcdEnv, etcdv1beta2.EnvVar{Name: name, Value: value})
	}
}

func WithLabel(name, value string) Option {
	return func(c *etcdv1beta2.EtcdCluster) { PodPolicy(c).Labels = map[string]string{name: value} }
}

func PodPolicy(c *etcdv1beta2.EtcdCluster) *etcdv1beta2.PodPolicy {
	if c.Spec.Pod == nil {
		c.Spec.Pod = &etcdv1beta2.PodPolicy{}
	}
	return c.Spec.Pod
}

func WithAll(c *etcdv1beta2.EtcdCluster) {
	c.Spec.Repository = "registry.example.com/etcd"
	c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{
		Member: &etcdv1beta2.MemberSecret{PeerSecret: "peers", ServerSecret: "servers"}, OperatorSecret: "operator",
	}}
	c.Spec.Access = common.Access{{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	p := PodPolicy(c)
	p.Labels, p.Annotations = map[string]string{"team": "a"}, map[string]string{"note": "b"}
	p.NodeSelector, p.AntiAffinity, p.ClusterDomain = map[string]string{"disk": "ssd"}, true, ".cluster.local"
	p.Tolerations = []corev1.Toleration{{Key: "db", Operator: corev1.TolerationOpExists}}
	p.EtcdEnv = []etcdv1beta2.EnvVar{{Name: "ETCD_AUTO_COMPACTION_RETENTION", Value: "1"}}
	p.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	p.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(9))}
	p.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
}

func WithAllTLS(c *etcdv1beta2.EtcdCluster) {
	c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{OperatorSecret: "operator", Member: &etcdv1beta2.MemberSecret{ServerSecret: "s"}}}
}
