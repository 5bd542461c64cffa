// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/opcrew/opcrew/internal/workload"
)

// Budget is a PodDisruptionBudget, and the names of its pods that are not ready, on any node.
type Budget struct {
	*policyv1.PodDisruptionBudget
	Unready []string
}

// NewBudget returns a budget with those of the pods that it selects and that are not ready.
func NewBudget(pdb *policyv1.PodDisruptionBudget, pods []*corev1.Pod) Budget {
	out := Budget{PodDisruptionBudget: pdb}
	for _, pod := range pods {
		if out.selects(pod) && !isFinished(pod) && !workload.Ready(pod) {
			out.Unready = append(out.Unready, pod.Name)
		}
	}
	slices.Sort(out.Unready)
	return out
}

// selects reports whether a budget applies to a pod. An empty selector selects all pods of the namespace; an invalid one
// selects none.
func (b Budget) selects(pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels))
}

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

func alwaysAllows(b Budget) bool {
	policy := b.Spec.UnhealthyPodEvictionPolicy
	return policy != nil && *policy == policyv1.AlwaysAllow
}

// isCurrent reports whether the status of a budget describes its present spec.
func isCurrent(b Budget) bool { return b.Status.ObservedGeneration >= b.Generation }
