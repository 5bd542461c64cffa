// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// placement sets which nodes the pods may run on: node selector, tolerations, anti-affinity and spread constraints.
func placement(spec *corev1ac.PodSpecApplyConfiguration, c *redisv1alpha1.RedisEnterpriseCluster) {
	if len(c.Spec.NodeSelector) > 0 {
		spec.WithNodeSelector(c.Spec.NodeSelector)
	}
	for _, t := range c.Spec.PodTolerations {
		spec.WithTolerations(podtemplate.Convert[*corev1ac.TolerationApplyConfiguration](t))
	}
	others := metav1ac.LabelSelector().WithMatchLabels(desired.Selector(c))
	if apart := antiAffinity(c, others); apart != nil {
		spec.WithAffinity(corev1ac.Affinity().WithPodAntiAffinity(apart))
	}
	if c.Spec.PodAntiAffinity == nil {
		for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
			spec.WithTopologySpreadConstraints(spread(key, corev1.ScheduleAnyway, others))
		}
	}
	if rack := c.Spec.RackAwarenessNodeLabel; rack != "" {
		spec.TopologySpreadConstraints = without(rack, spec.TopologySpreadConstraints)
		spec.WithTopologySpreadConstraints(spread(rack, corev1.DoNotSchedule, others))
	}
}

// antiAffinity declares the rules of the spec that keep pods apart. By default, the scheduler prefers different nodes
// for the pods. For each additional topology key in the spec, no two pods may run on nodes with the same value of this
// key.
func antiAffinity(c *redisv1alpha1.RedisEnterpriseCluster, others *metav1ac.LabelSelectorApplyConfiguration) *corev1ac.PodAntiAffinityApplyConfiguration {
	out := corev1ac.PodAntiAffinity()
	if asked := c.Spec.PodAntiAffinity; asked != nil {
		out = podtemplate.Convert[*corev1ac.PodAntiAffinityApplyConfiguration](asked)
	} else { // with the highest weight, because the scheduler may otherwise prefer a node that already has the image
		out.WithPreferredDuringSchedulingIgnoredDuringExecution(corev1ac.WeightedPodAffinityTerm().WithWeight(100).
			WithPodAffinityTerm(term(corev1.LabelHostname, others)))
	}
	for _, key := range c.Spec.AntiAffinityAdditionalTopologyKeys {
		out.WithRequiredDuringSchedulingIgnoredDuringExecution(term(key, others))
	}
	return out
}

func term(key string, others *metav1ac.LabelSelectorApplyConfiguration) *corev1ac.PodAffinityTermApplyConfiguration {
	return corev1ac.PodAffinityTerm().WithTopologyKey(key).WithLabelSelector(others)
}

func spread(key string, otherwise corev1.UnsatisfiableConstraintAction, others *metav1ac.LabelSelectorApplyConfiguration) *corev1ac.TopologySpreadConstraintApplyConfiguration {
	return corev1ac.TopologySpreadConstraint().WithMaxSkew(1).WithTopologyKey(key).WithWhenUnsatisfiable(otherwise).WithLabelSelector(others)
}

// without removes the spread constraint for a topology key, because a stricter constraint replaces it.
func without(key string, constraints []corev1ac.TopologySpreadConstraintApplyConfiguration) []corev1ac.TopologySpreadConstraintApplyConfiguration {
	var out []corev1ac.TopologySpreadConstraintApplyConfiguration
	for _, constraint := range constraints {
		if *constraint.TopologyKey != key {
			out = append(out, constraint)
		}
	}
	return out
}
