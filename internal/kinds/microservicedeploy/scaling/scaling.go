// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scaling decides how many pods an instance has, and whether an autoscaler changes that.
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

// AwakeAnnotation remembers, on the Deployment of an idle instance, how many pods it had.
const AwakeAnnotation = "opcrew.io/awake-replicas"

// Scale is how many pods there are to be, and who decides.
type Scale struct {
	// Replicas is our number; live reports that the Deployment's own number stays.
	Replicas int32
	Live     bool
	// Autoscaler: the instance gets an autoscaler.
	Autoscaler bool
	// Awake is how many pods come back to an idle instance.
	Awake int32
	// Spread: there can be more than one pod.
	Spread bool
}

// Decide decides the number of pods. An autoscaler that is not wanted any more goes
// first: it would fight for its number.
func Decide(m *customv1.MicroServiceDeploy, r workload.Rollout, autoscaler bool) Scale {
	switch {
	case m.Spec.Idle:
		return Scale{Live: autoscaler, Awake: awake(m, r), Spread: autoscaler && r.Replicas() > 1}
	case !Autoscales(m):
		return Scale{Replicas: names.Replicas(m), Live: autoscaler, Spread: names.Replicas(m) > 1}
	}
	s := Scale{Autoscaler: true, Spread: names.MaxReplicas(m) > 1} // a step of the autoscaler makes no budget
	switch {
	case r.Deployment == nil:
		s.Replicas, s.Live = names.Replicas(m), true // ours is only what it begins with
	case r.Replicas() == 0:
		s.Replicas = withinBounds(m, remembered(r))
	default:
		s.Live = true
	}
	return s
}

// withinBounds is a number of pods that an autoscaler could have come to.
func withinBounds(m *customv1.MicroServiceDeploy, n int32) int32 {
	return min(max(names.Replicas(m), n), names.MaxReplicas(m))
}

// Autoscales reports whether load decides: an autoscaler does nothing at 0.
func Autoscales(m *customv1.MicroServiceDeploy) bool {
	return m.Spec.Autoscaling && !m.Spec.Idle && names.Replicas(m) > 0
}

// awake is how many pods come back to an idle instance: where load decided, as many as it had.
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

// Wanted is how many pods there are to be in the end. The number that an autoscaler left
// is not, once there is to be none: it stays only until the autoscaler is gone.
func (s Scale) Wanted(r workload.Rollout) int32 {
	if s.Autoscaler && s.Live && r.Deployment != nil {
		return r.Replicas()
	}
	return s.Replicas
}

// Autoscaler declares the autoscaler.
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

// MostPods is the highest number of pods that an instance can come to.
func MostPods(m *customv1.MicroServiceDeploy) int32 {
	switch {
	case m.Spec.Idle:
		return 0
	case Autoscales(m):
		return max(names.MaxReplicas(m), names.Replicas(m))
	}
	return names.Replicas(m)
}
