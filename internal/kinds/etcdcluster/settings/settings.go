// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package settings compares the settings that a member's pod was created with to the current spec. Other packages
// decide what to do about a difference.
package settings

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// PodPolicy returns spec.pod, or an empty policy if it is not set.
func PodPolicy(c *etcdv1beta2.EtcdCluster) *etcdv1beta2.PodPolicy {
	if c.Spec.Pod == nil {
		return &etcdv1beta2.PodPolicy{}
	}
	return c.Spec.Pod
}

// Hash returns a hash of the pod settings in the spec. It ignores the version, which opcrew changes in place. It also
// ignores what opcrew itself adds to pods, so that an upgrade of opcrew restarts no pod.
func Hash(c *etcdv1beta2.EtcdCluster) string { return hashWith(c, c.Spec.Pod) }

// hashWith returns the hash that the spec would have with another pod policy, or without one if policy is nil.
func hashWith(c *etcdv1beta2.EtcdCluster, policy *etcdv1beta2.PodPolicy) string {
	return ensure.Hash(struct {
		Repository string
		Pod        *etcdv1beta2.PodPolicy
		TLS        *etcdv1beta2.TLSPolicy
		Upkeep     *PodUpkeep `json:",omitempty"`
	}{c.Spec.Repository, withoutIgnored(policy), c.Spec.TLS, ForPods(c)})
}

// withoutIgnored returns a copy of the policy without the fields whose change does not recreate pods.
func withoutIgnored(policy *etcdv1beta2.PodPolicy) *etcdv1beta2.PodPolicy {
	out := policy.DeepCopy()
	if out != nil {
		out.PersistentVolumeClaimSpec, out.BusyboxImage, out.DNSTimeoutInSecond = nil, "", 0
	}
	return out
}
