// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// placement sets where a member's pod may run. The pod tolerates a node that does not report, so that Kubernetes does
// not evict it: the pod could not use its volume on another node. opcrew itself replaces the member if the node stays
// lost.
func placement(spec *corev1ac.PodSpecApplyConfiguration, c *etcdv1beta2.EtcdCluster) {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		spec.WithTolerations(corev1ac.Toleration().WithKey(key).WithOperator(corev1.TolerationOpExists).WithEffect(corev1.TaintEffectNoExecute))
	}
	others := metav1ac.LabelSelector().WithMatchLabels(model.Selector(c))
	policy := c.Spec.Pod
	if policy != nil {
		spec.WithNodeSelector(policy.NodeSelector)
		for _, t := range policy.Tolerations {
			spec.WithTolerations(podtemplate.Convert[*corev1ac.TolerationApplyConfiguration](t))
		}
	}
	switch {
	case policy != nil && policy.Affinity != nil:
		spec.WithAffinity(podtemplate.Convert[*corev1ac.AffinityApplyConfiguration](policy.Affinity))
		return
	case policy != nil && policy.AntiAffinity:
		spec.WithAffinity(corev1ac.Affinity().WithPodAntiAffinity(corev1ac.PodAntiAffinity().
			WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.PodAffinityTerm().WithTopologyKey(corev1.LabelHostname).WithLabelSelector(others))))
	// The spread constraints below are not enough: the scheduler prefers a node that already has the image to a node
	// that satisfies these constraints.
	default:
		spec.WithAffinity(corev1ac.Affinity().WithPodAntiAffinity(corev1ac.PodAntiAffinity().
			WithPreferredDuringSchedulingIgnoredDuringExecution(corev1ac.WeightedPodAffinityTerm().WithWeight(100).
				WithPodAffinityTerm(corev1ac.PodAffinityTerm().WithTopologyKey(corev1.LabelHostname).WithLabelSelector(others)))))
	}
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		spec.WithTopologySpreadConstraints(corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).WithTopologyKey(key).WithWhenUnsatisfiable(corev1.ScheduleAnyway).WithLabelSelector(others))
	}
}

// Security returns the part of a member's pod that the spec can set and that may break a Pod Security Standard.
func Security(c *etcdv1beta2.EtcdCluster) *corev1.PodTemplateSpec {
	out := &corev1.PodTemplateSpec{}
	out.Annotations = settings.PodPolicy(c).Annotations
	out.Spec.SecurityContext = podtemplate.Convert[*corev1.PodSecurityContext](securityContext(c))
	return out
}

// securityContext returns the default security context of the pod, with the fields of the spec on top.
func securityContext(c *etcdv1beta2.EtcdCluster) *corev1ac.PodSecurityContextApplyConfiguration {
	out := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).WithRunAsUser(user).WithRunAsGroup(user).WithFSGroup(user).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if c.Spec.Pod == nil {
		return out
	}
	return podtemplate.Over(out, c.Spec.Pod.SecurityContext)
}
