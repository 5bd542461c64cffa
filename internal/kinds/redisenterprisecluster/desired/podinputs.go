// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// PodInputs holds all fields of the spec that pods depend on. Only a change of these fields replaces pods. PodInputs
// omits what the operator itself adds to pods, so that an upgrade of the operator restarts no pod.
type PodInputs struct {
	Pod redisv1alpha1.PodSpec
	// Image is empty for the default image, except if the spec requests automatic upgrades of the default image.
	Image      string                       `json:",omitempty"`
	Policy     corev1.PullPolicy            `json:",omitempty"`
	Resources  *corev1.ResourceRequirements `json:",omitempty"`
	Settings   map[string]string            `json:",omitempty"`
	Secret     string                       `json:",omitempty"`
	PageSecret string                       `json:",omitempty"`
	Persistent bool                         `json:",omitempty"`
}

// PodInputs returns all fields of the spec that pods depend on. Different spellings of the same value give the same
// result. The result omits settings that running servers can change, and fields of the StatefulSet itself.
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

// followsDefault reports whether the spec lets an upgrade of the operator change the image.
func followsDefault(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return c.Spec.UpgradeSpec != nil && c.Spec.UpgradeSpec.AutoUpgradeRedisEnterprise
}
