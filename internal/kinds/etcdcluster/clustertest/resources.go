// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Limits sets resource limits without requests, from pairs of a resource name and a quantity.
func Limits(limits ...string) Option {
	return func(c *etcdv1beta2.EtcdCluster) {
		PodPolicy(c).Resources = corev1.ResourceRequirements{Limits: Quantities(limits)}
	}
}

func Quantities(pairs []string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}
