// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/workload"
)

// MostAtOnce is the maximum number of pods of one plan to evict.
const MostAtOnce = 32

// Input is what Next needs to know.
type Input struct {
	Now time.Time
	// Node is the name of the node to drain.
	Node string
	// Cordoned is when opcrew cordoned the node; zero if that is unknown.
	Cordoned time.Time
	// Pods are the pods of the node. Pods that the cache lists for another node are ignored.
	Pods []*corev1.Pod
	// Budgets are the PodDisruptionBudgets of the pods' namespaces.
	Budgets []Budget
	// Refused has the answer of the API server for each pod whose last eviction it refused.
	Refused map[types.UID]string
}

// Plan is what to do now to drain a node.
type Plan struct {
	// Evict are the pods to evict now, also those whose eviction was refused.
	Evict []Pod
	// Ending are the pods that have been evicted or deleted and still run.
	Ending []Pod
	// Blocked are the pods that cannot be evicted or do not end.
	Blocked []Blocked
	// Later is the number of pods that exceed MostAtOnce.
	Later int
}

// Done reports whether the node is drained.
func (p Plan) Done() bool { return len(p.Evict)+len(p.Ending)+len(p.Blocked)+p.Later == 0 }

// Next decides what to do now. Several pods of one plan never use more disruptions than a budget allows.
func Next(in Input) Plan {
	var out Plan
	open := newLedger(in.Budgets)
	for _, pod := range ordered(in) {
		switch stuck := whyStuck(pod, in.Now); {
		case stuck != "":
			out.Blocked = append(out.Blocked, Blocked{Pod: identity(pod), Message: stuck})
		case pod.DeletionTimestamp != nil:
			out.Ending = append(out.Ending, identity(pod))
		case len(out.Evict) == MostAtOnce:
			out.Later++
		default:
			out.add(pod, open.take(pod, in.Now), in.Refused[pod.UID])
		}
	}
	return out
}

// add adds a pod. The eviction of a pod that was refused for another reason than a budget is tried again.
func (p *Plan) add(pod *corev1.Pod, forbidden *Blocked, refused string) {
	if forbidden != nil {
		p.Blocked = append(p.Blocked, *forbidden)
		return
	}
	p.Evict = append(p.Evict, identity(pod))
	if refused != "" {
		p.Blocked = append(p.Blocked, Blocked{Pod: identity(pod), Message: "its eviction is refused, and opcrew tries it again: " + refused})
	}
}

// ordered returns the pods that a drain must remove. Pods that are not ready come first, because their eviction uses
// no disruption of a budget, and pods whose eviction was refused come last.
func ordered(in Input) []*corev1.Pod {
	stays := func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName != in.Node || Stays(pod) || hasReturned(pod, in.Cordoned)
	}
	out := slices.DeleteFunc(slices.Clone(in.Pods), stays)
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(rank(a, in.Refused), rank(b, in.Refused)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func rank(pod *corev1.Pod, refused map[types.UID]string) int {
	switch {
	case refused[pod.UID] != "":
		return 2
	case workload.Ready(pod):
		return 1
	}
	return 0
}
