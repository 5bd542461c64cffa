// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Report sets conditions RolledOut and Available from the observed pods and the outcome of the plan. wanted is the
// number of pods in the spec.
func (r Rollout) Report(set condition.Set, wanted int32, done kit.Outcome) {
	r.ReportAs(set, common.ConditionRolledOut, wanted, done)
	r.reportAvailable(set)
}

// ReportAs sets a condition as Report sets RolledOut, for kinds that use another name for this condition.
func (r Rollout) ReportAs(set condition.Set, kind string, wanted int32, done kit.Outcome) {
	n := r.Replicas()
	switch {
	case r.Deployment == nil:
		set.False(kind, common.ReasonApplying, "The pods are being created")
	case n != wanted:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("The number of pods is changing from %d to %d", n, wanted))
	case Changing(done, "Deployment") || !r.Observed():
		set.False(kind, common.ReasonUpdating, "The Deployment controller has not processed the last change yet")
	case r.refused() != "":
		set.False(kind, common.ReasonPodsMissing, fmt.Sprintf("%s; the API server refuses a pod: %s", r.progress(), r.refused()))
	case !r.Complete() || n == 0 && len(r.Pods) > len(r.stuck(set.Now)):
		why, reason := r.firstCause()
		set.False(kind, reason, r.progress()+why)
	case n == 0:
		set.True(kind, common.ReasonScaledToZero, "The spec requests no pods")
	default:
		set.True(kind, common.ReasonAllPodsReady, fmt.Sprintf("%d of %d pods are ready", n, n))
	}
}

// progress describes how many pods of the newest template are ready.
func (r Rollout) progress() string {
	s := r.Deployment.Status
	if r.Replicas() == 0 {
		return "The last pods are being deleted"
	}
	if s.Replicas > s.UpdatedReplicas {
		serve := r.serving()
		return fmt.Sprintf("%d of %d new pods are ready, and %s", serve, r.Replicas(), oldPods(r.Ready()-serve))
	}
	if more := r.staying() - r.Replicas(); more > 0 && s.AvailableReplicas == r.Replicas() {
		return fmt.Sprintf("%d of %d pods are ready, and %d surplus pods must be removed", s.AvailableReplicas, r.Replicas(), more)
	}
	return fmt.Sprintf("%d of %d pods are ready", min(s.AvailableReplicas, r.Ready()), r.Replicas())
}

// oldPods describes how many pods of earlier templates are ready.
func oldPods(n int32) string {
	switch n {
	case 0:
		return "no old pod serves requests"
	case 1:
		return "1 old pod still serves requests"
	}
	return fmt.Sprintf("%d old pods still serve requests", n)
}

// serving counts the ready pods of the newest template.
func (r Rollout) serving() int32 {
	var n int32
	for i := range r.Pods {
		if r.newest(&r.Pods[i]) && Ready(&r.Pods[i]) {
			n++
		}
	}
	return n
}

func (r Rollout) reportAvailable(set condition.Set) {
	switch {
	case r.Ready() > 0:
		// The message does not contain the number of pods. Otherwise opcrew would write the condition again whenever
		// another pod became ready. The status contains the number.
		set.True(common.ConditionAvailable, common.ReasonServing, "At least one pod is ready to serve requests")
	case r.Deployment != nil && r.Replicas() == 0:
		set.False(common.ConditionAvailable, common.ReasonScaledToZero, "The spec requests no pods")
	default:
		set.False(common.ConditionAvailable, common.ReasonNotServing, "No pod is ready to serve requests")
	}
}

// Changing reports whether opcrew has just changed a workload, so that the observed pods still belong to its earlier
// spec.
func Changing(done kit.Outcome, kind string) bool {
	return slices.ContainsFunc(done.Results, func(result ensure.Result) bool {
		return result.Ref.Kind == kind && (result.Action == ensure.Applied || result.Action == ensure.Waiting || result.Action == ensure.Replaced)
	})
}

// firstCause returns the first pod of the newest template that is not ready, with the reason. Pods that may need help,
// or that cannot be deleted, come before pods that are starting, because starting pods may wait for their volumes.
func (r Rollout) firstCause() (cause, reason string) {
	var staying, going []*corev1.Pod
	for i := range r.Pods {
		switch pod := &r.Pods[i]; {
		case pod.DeletionTimestamp != nil:
			going = append(going, pod)
		case r.newest(pod):
			staying = append(staying, pod)
		}
	}
	for i := range r.Former {
		going = append(going, &r.Former[i])
	}
	for _, pod := range append(staying, going...) {
		why, stuck := WhyNotReady(pod)
		if stuck {
			return "; " + pod.Name + ": " + why, common.ReasonPodsNotReady
		}
		if cause == "" && why != "" && pod.DeletionTimestamp == nil {
			cause = "; " + pod.Name + ": " + why
		}
	}
	if cause != "" && r.late() {
		return cause, common.ReasonPodsNotReady
	}
	return cause, common.ReasonUpdating
}

// late reports whether the Deployment has exceeded its progress deadline of ten minutes (the default). After that, even
// a pod that is still starting may need help.
func (r Rollout) late() bool {
	return slices.ContainsFunc(r.Deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

func (r Rollout) newest(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && len(r.Sets) > 0 && owner.UID == r.Sets[0].UID
}
