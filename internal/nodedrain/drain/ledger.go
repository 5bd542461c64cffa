// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/opcrew/opcrew/internal/workload"
)

// ledger counts how many disruptions the evictions of a plan use.
type ledger struct {
	budgets []Budget
	used    map[*policyv1.PodDisruptionBudget]int32
}

func newLedger(budgets []Budget) *ledger {
	return &ledger{budgets, map[*policyv1.PodDisruptionBudget]int32{}}
}

// take decides about the eviction of one pod. It returns nil if the pod may be evicted.
func (l *ledger) take(pod *corev1.Pod, now time.Time) *Blocked {
	of := slices.DeleteFunc(slices.Clone(l.budgets), func(b Budget) bool { return !b.selects(pod) })
	switch {
	case len(of) == 0 || isExempt(pod):
		return nil
	case len(of) > 1:
		return &Blocked{identity(pod), of[0].Name, several(of)}
	case isFree(pod, of[0]):
		return nil
	}
	budget := of[0]
	if why := whyForbidden(budget, l.used[budget.PodDisruptionBudget], pod, now); why != "" {
		return &Blocked{identity(pod), budget.Name, why}
	}
	l.used[budget.PodDisruptionBudget]++
	return nil
}

// isExempt reports whether the API server evicts a pod without regard to budgets.
func isExempt(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodPending }

// isFree reports whether the eviction of a pod that is not ready uses no disruption of its budget.
func isFree(pod *corev1.Pod, b Budget) bool {
	if workload.Ready(pod) {
		return false
	}
	if alwaysAllows(b) {
		return true
	}
	return isCurrent(b) && b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
}
