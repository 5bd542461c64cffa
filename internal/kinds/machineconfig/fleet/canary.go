// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// setCanaries marks the canary nodes of each pool.
func (f *Fleet) setCanaries(nodes []*rollout.Node) {
	for _, p := range f.Pools {
		if p.Spec.Rollout == nil || p.Spec.Rollout.Canary == nil {
			continue
		}
		for _, n := range f.canaries(nodes, p.Name, p.Spec.Rollout.Canary) {
			n.Canary = true
		}
	}
}

// canaries returns the canary nodes of a pool: all that the selector selects, or without a selector those with the
// earliest names.
func (f *Fleet) canaries(nodes []*rollout.Node, pool string, canary *mcfgv1.Canary) []*rollout.Node {
	selector := labels.Everything()
	if canary.NodeSelector != nil {
		selector = Selector(canary.NodeSelector)
	}
	var out []*rollout.Node
	for i, n := range nodes {
		if n.Primary() == pool && !n.Joining && selector.Matches(labelsOf(f.Nodes[i])) {
			out = append(out, n)
		}
	}
	if canary.NodeSelector != nil {
		return out
	}
	slices.SortFunc(out, func(a, b *rollout.Node) int { return cmp.Compare(a.Name, b.Name) })
	count := 1
	if canary.Count != nil {
		count = int(*canary.Count)
	}
	return out[:min(count, len(out))]
}

func labelsOf(n *corev1.Node) labels.Set { return n.Labels }
