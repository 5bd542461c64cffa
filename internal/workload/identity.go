// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/opcrew/opcrew/internal/podtemplate"
)

// Identity holds the names and labels that all children of one application share.
type Identity struct {
	Namespace, Name string
	// Labels are set on all children. Selector is a subset of them that must never change, because selectors of
	// workloads are immutable.
	Labels, Selector map[string]string
}

// Deployment returns a Deployment with pods of a template. It removes a pod only when a new pod is ready. A rollout
// therefore loses no request, and a broken image removes no working pod.
func (id Identity) Deployment(replicas int32, template *corev1ac.PodTemplateSpecApplyConfiguration) *appsv1ac.DeploymentApplyConfiguration {
	return appsv1ac.Deployment(id.Name, id.Namespace).WithLabels(id.Labels).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector)).
			WithStrategy(appsv1ac.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
					WithMaxSurge(intstr.FromString("25%")).WithMaxUnavailable(intstr.FromInt32(0)))).
			WithTemplate(template))
}

// DisruptionBudget returns a disruption budget that lets only one pod be evicted at a time, for example by a node
// drain.
func (id Identity) DisruptionBudget() *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(id.Name, id.Namespace).WithLabels(id.Labels).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector)))
}

// Template returns a pod template with one or more containers. The scheduler spreads its pods over the nodes where
// possible.
func (id Identity) Template(containers ...*corev1ac.ContainerApplyConfiguration) *corev1ac.PodTemplateSpecApplyConfiguration {
	return corev1ac.PodTemplateSpec().WithLabels(id.Labels).WithSpec(corev1ac.PodSpec().
		WithContainers(containers...).
		WithEnableServiceLinks(false).
		WithServiceAccountName(podtemplate.DefaultServiceAccount).
		WithAutomountServiceAccountToken(false).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithTopologySpreadConstraints(corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).WithTopologyKey(corev1.LabelHostname).WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector))).
		WithTerminationGracePeriodSeconds(grace))
}
