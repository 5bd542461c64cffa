// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"slices"

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

// selects reports whether a budget applies to a pod. An empty selector selects all pods of the namespace; an invalid
// one selects none.
func (b Budget) selects(pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels))
}

func alwaysAllows(b Budget) bool {
	policy := b.Spec.UnhealthyPodEvictionPolicy
	return policy != nil && *policy == policyv1.AlwaysAllow
}

// isCurrent reports whether the status of a budget describes its present spec.
func isCurrent(b Budget) bool { return b.Status.ObservedGeneration >= b.Generation }
