// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"cmp"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// awakeAnnotation remembers, on the Deployment of an idle instance, how many pods it had.
const awakeAnnotation = "opcrew.io/awake-replicas"

// scale is how many pods there are to be, and who decides.
type scale struct {
	// replicas is our number; live reports that the Deployment's own number stays.
	replicas int32
	live     bool
	// autoscaler: there is to be one.
	autoscaler bool
	// awake is how many pods come back to an idle instance.
	awake int32
	// spread: there can be more than one pod.
	spread bool
}

// scaleOf decides the number of pods. An autoscaler that is not wanted any more goes
// first: it would fight for its number.
func scaleOf(m *customv1.MicroServiceDeploy, r workload.Rollout, autoscaler bool) scale {
	switch {
	case m.Spec.Idle:
		return scale{live: autoscaler, awake: awake(m, r), spread: autoscaler && r.Replicas() > 1}
	case !autoscales(m):
		return scale{replicas: replicas(m), live: autoscaler, spread: replicas(m) > 1}
	}
	s := scale{autoscaler: true, spread: maxReplicas(m) > 1} // a step of the autoscaler makes no budget
	switch {
	case r.Deployment == nil:
		s.replicas, s.live = replicas(m), true // ours is only what it begins with
	case r.Replicas() == 0:
		s.replicas = withinBounds(m, remembered(r))
	default:
		s.live = true
	}
	return s
}

// withinBounds is a number of pods that an autoscaler could have come to.
func withinBounds(m *customv1.MicroServiceDeploy, n int32) int32 {
	return min(max(replicas(m), n), maxReplicas(m))
}

// autoscales reports whether load decides: an autoscaler does nothing at 0.
func autoscales(m *customv1.MicroServiceDeploy) bool {
	return m.Spec.Autoscaling && !m.Spec.Idle && replicas(m) > 0
}

// awake is how many pods come back to an idle instance: where load decided, as many as it had.
func awake(m *customv1.MicroServiceDeploy, r workload.Rollout) int32 {
	if !m.Spec.Autoscaling || replicas(m) == 0 {
		return replicas(m)
	}
	return withinBounds(m, cmp.Or(remembered(r), r.Replicas()))
}

func remembered(r workload.Rollout) int32 {
	if r.Deployment == nil {
		return 0
	}
	n, err := strconv.ParseInt(r.Deployment.Annotations[awakeAnnotation], 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// wanted is how many pods there are to be in the end. The number that an autoscaler left
// is not, once there is to be none: it stays only until the autoscaler is gone.
func (s scale) wanted(r workload.Rollout) int32 {
	if s.autoscaler && s.live && r.Deployment != nil {
		return r.Replicas()
	}
	return s.replicas
}

// horizontal declares the autoscaler.
func horizontal(m *customv1.MicroServiceDeploy) *autoscalingv2ac.HorizontalPodAutoscalerApplyConfiguration {
	id := identity(m)
	spec := autoscalingv2ac.HorizontalPodAutoscalerSpec().
		WithScaleTargetRef(autoscalingv2ac.CrossVersionObjectReference().WithAPIVersion("apps/v1").WithKind("Deployment").WithName(id.Name)).
		WithMinReplicas(replicas(m)).WithMaxReplicas(max(maxReplicas(m), replicas(m)))
	if len(m.Spec.Metrics) > 0 {
		spec.WithMetrics(podtemplate.Convert[[]*autoscalingv2ac.MetricSpecApplyConfiguration](m.Spec.Metrics)...)
	} else {
		spec.WithMetrics(autoscalingv2ac.MetricSpec().WithType(autoscalingv2.ContainerResourceMetricSourceType).
			WithContainerResource(autoscalingv2ac.ContainerResourceMetricSource().
				WithContainer(mainContainer).WithName(corev1.ResourceCPU).
				WithTarget(autoscalingv2ac.MetricTarget().WithType(autoscalingv2.UtilizationMetricType).WithAverageUtilization(customv1.DefaultCPUPercent))))
	}
	return autoscalingv2ac.HorizontalPodAutoscaler(id.Name, id.Namespace).WithLabels(id.Labels).WithSpec(spec)
}
