// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scaling decides how many pods a MicroServiceDeploy has, and whether an autoscaler controls this number.
package scaling

import (
	"cmp"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// AwakeAnnotation is an annotation on the Deployment of an idle MicroServiceDeploy. It records how many pods the
// MicroServiceDeploy had before.
const AwakeAnnotation = "opcrew.io/awake-replicas"

// Scale is the number of pods, and whether opcrew or an autoscaler decides it.
type Scale struct {
	// Replicas is the number of pods that opcrew sets. If Live is true, opcrew keeps the current number in the
	// Deployment instead.
	Replicas int32
	Live     bool
	// Autoscaler is true if the MicroServiceDeploy gets a HorizontalPodAutoscaler.
	Autoscaler bool
	// Awake is the number of pods that an idle MicroServiceDeploy gets when it is no longer idle.
	Awake int32
	// Spread is true if there can be more than one pod, so that a PodDisruptionBudget is useful.
	Spread bool
}

// Decide decides the number of pods. If the autoscaler is no longer needed, opcrew deletes the autoscaler before it
// changes the number, because the autoscaler would undo the change.
func Decide(m *customv1.MicroServiceDeploy, r workload.Rollout, autoscaler bool) Scale {
	switch {
	case m.Spec.Idle:
		return Scale{Live: autoscaler, Awake: awake(m, r), Spread: autoscaler && r.Replicas() > 1}
	case !Autoscales(m):
		return Scale{Replicas: names.Replicas(m), Live: autoscaler, Spread: names.Replicas(m) > 1}
	}
	// Spread depends on the maximum. Otherwise, scaling could create or delete the PodDisruptionBudget.
	s := Scale{Autoscaler: true, Spread: names.MaxReplicas(m) > 1}
	switch {
	case r.Deployment == nil:
		s.Replicas, s.Live = names.Replicas(m), true // opcrew only sets the initial number; then the autoscaler decides
	case r.Replicas() == 0:
		s.Replicas = withinBounds(m, remembered(r))
	default:
		s.Live = true
	}
	return s
}

// withinBounds returns the number nearest to n that the autoscaler may set.
func withinBounds(m *customv1.MicroServiceDeploy, n int32) int32 {
	return min(max(names.Replicas(m), n), names.MaxReplicas(m))
}

// Autoscales reports whether the load decides the number of pods. An autoscaler does nothing at 0 pods.
func Autoscales(m *customv1.MicroServiceDeploy) bool {
	return m.Spec.Autoscaling && !m.Spec.Idle && names.Replicas(m) > 0
}

// awake returns the number of pods that an idle MicroServiceDeploy gets when it is no longer idle. With autoscaling,
// this is the number that it had before it became idle.
func awake(m *customv1.MicroServiceDeploy, r workload.Rollout) int32 {
	if !m.Spec.Autoscaling || names.Replicas(m) == 0 {
		return names.Replicas(m)
	}
	return withinBounds(m, cmp.Or(remembered(r), r.Replicas()))
}

func remembered(r workload.Rollout) int32 {
	if r.Deployment == nil {
		return 0
	}
	n, err := strconv.ParseInt(r.Deployment.Annotations[AwakeAnnotation], 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// Wanted returns the number of pods that the MicroServiceDeploy should reach. If there should be no autoscaler but one
// still exists, the number that it set does not count: opcrew keeps that number only until the autoscaler is deleted.
func (s Scale) Wanted(r workload.Rollout) int32 {
	if s.Autoscaler && s.Live && r.Deployment != nil {
		return r.Replicas()
	}
	return s.Replicas
}

// Autoscaler declares the HorizontalPodAutoscaler.
func Autoscaler(m *customv1.MicroServiceDeploy) *autoscalingv2ac.HorizontalPodAutoscalerApplyConfiguration {
	id := names.Identity(m)
	spec := autoscalingv2ac.HorizontalPodAutoscalerSpec().
		WithScaleTargetRef(autoscalingv2ac.CrossVersionObjectReference().WithAPIVersion("apps/v1").WithKind("Deployment").WithName(id.Name)).
		WithMinReplicas(names.Replicas(m)).WithMaxReplicas(max(names.MaxReplicas(m), names.Replicas(m)))
	if len(m.Spec.Metrics) > 0 {
		spec.WithMetrics(podtemplate.Convert[[]*autoscalingv2ac.MetricSpecApplyConfiguration](m.Spec.Metrics)...)
	} else {
		spec.WithMetrics(autoscalingv2ac.MetricSpec().WithType(autoscalingv2.ContainerResourceMetricSourceType).
			WithContainerResource(autoscalingv2ac.ContainerResourceMetricSource().
				WithContainer(names.MainContainer).WithName(corev1.ResourceCPU).
				WithTarget(autoscalingv2ac.MetricTarget().WithType(autoscalingv2.UtilizationMetricType).WithAverageUtilization(customv1.DefaultCPUPercent))))
	}
	return autoscalingv2ac.HorizontalPodAutoscaler(id.Name, id.Namespace).WithLabels(id.Labels).WithSpec(spec)
}

// MostPods returns the maximum number of pods that a MicroServiceDeploy can get.
func MostPods(m *customv1.MicroServiceDeploy) int32 {
	switch {
	case m.Spec.Idle:
		return 0
	case Autoscales(m):
		return max(names.MaxReplicas(m), names.Replicas(m))
	}
	return names.Replicas(m)
}
