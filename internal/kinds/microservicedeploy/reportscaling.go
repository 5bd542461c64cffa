// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

func reportScaling(set condition.Set, m *customv1.MicroServiceDeploy, scaler *autoscalingv2.HorizontalPodAutoscaler) {
	const kind = customv1.MicroServiceDeployAutoscaled
	switch {
	case !m.Spec.Autoscaling:
		set.Remove(kind)
	case m.Spec.Idle:
		set.Unknown(kind, customv1.ReasonIdle, "An idle instance is not scaled")
	case !scaling.Autoscales(m):
		set.Unknown(kind, common.ReasonScaledToZero, "An instance of 0 replicas is not scaled")
	case len(m.Spec.Metrics) == 0 && !asksCPU(m):
		set.False(kind, customv1.ReasonNoRequests, "spec.resourceRequirements asks for no cpu, so there is nothing to compare the use with; set requests.cpu, or spec.metrics")
	case scaler == nil:
		set.Unknown(kind, common.ReasonApplying, "The autoscaler is being created")
	default:
		reportScaler(set, scaler)
	}
}

// reportScaler reports the autoscaler's own conditions. Without metrics the number of pods stays as it is, which holds
// nothing up.
func reportScaler(set condition.Set, scaler *autoscalingv2.HorizontalPodAutoscaler) {
	const kind = customv1.MicroServiceDeployAutoscaled
	switch active, able := said(scaler, autoscalingv2.ScalingActive), said(scaler, autoscalingv2.AbleToScale); {
	case active.Status == corev1.ConditionFalse:
		set.Unknown(kind, customv1.ReasonNoMetrics, "The number of pods stays as it is: "+active.Message)
	case able.Status == corev1.ConditionFalse:
		set.Unknown(kind, customv1.ReasonNotAble, "The number of pods stays as it is: "+able.Message)
	case active.Status == corev1.ConditionTrue:
		set.True(kind, customv1.ReasonScaling, fmt.Sprintf("From %d to %d pods, as their load asks for", *scaler.Spec.MinReplicas, scaler.Spec.MaxReplicas))
	default:
		set.Unknown(kind, common.ReasonApplying, "The autoscaler has not looked at the load yet")
	}
}

// said returns a condition of an autoscaler; empty until the autoscaler sets it.
func said(scaler *autoscalingv2.HorizontalPodAutoscaler, kind autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	for _, c := range scaler.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return autoscalingv2.HorizontalPodAutoscalerCondition{}
}

func asksCPU(m *customv1.MicroServiceDeploy) bool {
	r := m.Spec.ResourceRequirements
	return r.Requests[corev1.ResourceCPU] != "" || r.Limits[corev1.ResourceCPU] != ""
}
