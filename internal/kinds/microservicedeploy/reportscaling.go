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
		set.Unknown(kind, customv1.ReasonIdle, "The MicroServiceDeploy is idle (spec.idle), so it is not autoscaled")
	case !scaling.Autoscales(m):
		set.Unknown(kind, common.ReasonScaledToZero, "spec.replicas is 0, so the instance is not autoscaled")
	case len(m.Spec.Metrics) == 0 && !asksCPU(m):
		set.False(kind, customv1.ReasonNoRequests, "spec.resourceRequirements requests no CPU, so the autoscaler has no value to compare CPU use with; set spec.resourceRequirements.requests.cpu, or set spec.metrics")
	case scaler == nil:
		set.Unknown(kind, common.ReasonApplying, "opcrew is creating the HorizontalPodAutoscaler")
	default:
		reportScaler(set, scaler)
	}
}

// reportScaler reports the conditions of the HorizontalPodAutoscaler. If there are no metrics, the number of pods stays
// unchanged. This does not make the MicroServiceDeploy unready.
func reportScaler(set condition.Set, scaler *autoscalingv2.HorizontalPodAutoscaler) {
	const kind = customv1.MicroServiceDeployAutoscaled
	switch active, able := said(scaler, autoscalingv2.ScalingActive), said(scaler, autoscalingv2.AbleToScale); {
	case active.Status == corev1.ConditionFalse:
		set.Unknown(kind, customv1.ReasonNoMetrics, "The autoscaler cannot change the number of pods: "+active.Message)
	case able.Status == corev1.ConditionFalse:
		set.Unknown(kind, customv1.ReasonNotAble, "The autoscaler cannot change the number of pods: "+able.Message)
	case active.Status == corev1.ConditionTrue:
		set.True(kind, customv1.ReasonScaling, fmt.Sprintf("The autoscaler keeps between %d and %d pods, depending on their load", *scaler.Spec.MinReplicas, scaler.Spec.MaxReplicas))
	default:
		set.Unknown(kind, common.ReasonApplying, "The HorizontalPodAutoscaler has not read the load of the pods yet")
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
