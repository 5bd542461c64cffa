// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/internal/workload"
)

// several explains why a pod with several budgets cannot be evicted.
func several(budgets []Budget) string {
	var names []string
	for _, b := range budgets {
		names = append(names, b.Name)
	}
	return fmt.Sprintf("the PodDisruptionBudgets %s select it, and Kubernetes evicts no pod with several: change their selectors so that one remains",
		strings.Join(names, " and "))
}

// whyForbidden explains why a budget forbids the eviction of a pod; empty if it allows it. used is how many other pods
// of the budget the plan evicts.
func whyForbidden(b Budget, used int32, pod *corev1.Pod, now time.Time) string {
	switch {
	case !isCurrent(b):
		return fmt.Sprintf("%s was changed, and Kubernetes has not counted its pods yet: this pod follows in a moment", subject(b, now))
	case b.Status.DisruptionsAllowed > used:
		return ""
	case b.Status.DisruptionsAllowed > 0:
		return fmt.Sprintf("%s allows no further eviction while other pods are evicted: this pod follows", subject(b, now))
	case neverAllows(b):
		return fmt.Sprintf("%s never allows a disruption (%s): lower minAvailable, raise maxUnavailable, or delete the pod yourself", subject(b, now), limit(b))
	}
	return fmt.Sprintf("%s allows no disruption%s: %d of its pods are healthy, and %d must be%s: %s", subject(b, now), duration(b, now),
		b.Status.CurrentHealthy, b.Status.DesiredHealthy, unready(b), remedy(b, pod))
}

func subject(b Budget, now time.Time) string {
	return fmt.Sprintf("PodDisruptionBudget %s (%s old)", b.Name, Age(now.Sub(b.CreationTimestamp.Time)))
}

// duration says for how long a budget has allowed no disruption.
func duration(b Budget, now time.Time) string {
	condition := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return ""
	}
	return fmt.Sprintf(" since %s", Age(now.Sub(condition.LastTransitionTime.Time)))
}

// neverAllows reports whether a budget allows no disruption even while all its pods are healthy.
func neverAllows(b Budget) bool {
	return b.Status.ExpectedPods > 0 && b.Status.DesiredHealthy >= b.Status.ExpectedPods
}

func limit(b Budget) string {
	if b.Spec.MaxUnavailable != nil {
		return "maxUnavailable: " + b.Spec.MaxUnavailable.String()
	}
	if b.Spec.MinAvailable != nil {
		return fmt.Sprintf("minAvailable: %s of %d pods", b.Spec.MinAvailable, b.Status.ExpectedPods)
	}
	return fmt.Sprintf("all of %d pods must be healthy", b.Status.ExpectedPods)
}

// mostNamed is how many pods a message names.
const mostNamed = 3

// unready names the pods of a budget that are not ready, as a clause to append.
func unready(b Budget) string {
	if len(b.Unready) == 0 {
		return ""
	}
	names := b.Unready[:min(len(b.Unready), mostNamed)]
	text := ", not ready: " + strings.Join(names, ", ")
	if more := len(b.Unready) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// remedy says what to do. A pod that is not ready blocks its own eviction, unless the budget says otherwise.
func remedy(b Budget, pod *corev1.Pod) string {
	switch {
	case !workload.Ready(pod):
		return "make the pods ready, or set unhealthyPodEvictionPolicy: AlwaysAllow in the budget, which lets this pod be evicted because it is not ready"
	case len(b.Unready) > 0:
		return "make the pods ready"
	}
	return "add a replica, or allow more disruptions"
}
