// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// wishes are all of the user's that pods depend on: a change of them, and nothing else, makes pods again. What the
// operator adds of its own is not in it, so that an upgrade of it restarts no one who did not ask for that.
type wishes struct {
	Pod redisv1alpha1.PodSpec
	// Image is empty for the default one, unless the user follows that.
	Image      string                       `json:",omitempty"`
	Policy     corev1.PullPolicy            `json:",omitempty"`
	Resources  *corev1.ResourceRequirements `json:",omitempty"`
	Settings   map[string]string            `json:",omitempty"`
	Secret     string                       `json:",omitempty"`
	PageSecret string                       `json:",omitempty"`
	Persistent bool                         `json:",omitempty"`
}

// wishes reads those of a spec, by what they mean and not by how they are written. What is changed while servers
// run, and what is the StatefulSet's own, is left out.
func (r reading) wishes(c *redisv1alpha1.RedisEnterpriseCluster) wishes {
	out := wishes{
		Pod: c.Spec.PodSpec, Policy: r.image.policy, Settings: settings(c, restart),
		Secret: userSecret(c), PageSecret: pageSecret(c), Persistent: persistent(c),
	}
	if !r.image.standard || followsDefault(c) {
		out.Image = r.image.reference
	}
	if c.Spec.RedisEnterpriseNodeResources != nil {
		out.Resources = &r.each
	}
	return out
}

// followsDefault reports whether an upgrade of the operator may change the image.
func followsDefault(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return c.Spec.UpgradeSpec != nil && c.Spec.UpgradeSpec.AutoUpgradeRedisEnterprise
}
