// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// PodInputs are all fields of the spec that pods depend on. Only a change of these replaces pods: what the operator adds itself is
// not part of them, so that an upgrade of the operator restarts no pod without a request.
type PodInputs struct {
	Pod redisv1alpha1.PodSpec
	// Image is empty for the default image, unless the spec follows it.
	Image      string                       `json:",omitempty"`
	Policy     corev1.PullPolicy            `json:",omitempty"`
	Resources  *corev1.ResourceRequirements `json:",omitempty"`
	Settings   map[string]string            `json:",omitempty"`
	Secret     string                       `json:",omitempty"`
	PageSecret string                       `json:",omitempty"`
	Persistent bool                         `json:",omitempty"`
}

// PodInputs are those of a spec, by meaning and not by spelling. Settings that change while servers run, and fields of the
// StatefulSet itself, are not part of them.
func (r Spec) PodInputs(c *redisv1alpha1.RedisEnterpriseCluster) PodInputs {
	out := PodInputs{
		Pod: c.Spec.PodSpec, Policy: r.Image.Policy, Settings: Settings(c, AtStart),
		Secret: UserSecret(c), PageSecret: PageSecret(c), Persistent: Persistent(c),
	}
	if !r.Image.IsDefault || followsDefault(c) {
		out.Image = r.Image.Reference
	}
	if c.Spec.RedisEnterpriseNodeResources != nil {
		out.Resources = &r.ServerResources
	}
	return out
}

// followsDefault reports whether an upgrade of the operator may change the image.
func followsDefault(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return c.Spec.UpgradeSpec != nil && c.Spec.UpgradeSpec.AutoUpgradeRedisEnterprise
}
