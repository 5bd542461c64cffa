// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// givenUpIn returns the time until members on a silent node count as lost; 0 if no node is silent.
func (p planner) givenUpIn() time.Duration {
	c := p.c
	var soonest time.Duration
	for _, pod := range p.pods {
		n, ok := p.nodes[pod.Spec.NodeName]
		if !ok || n.SilentSince.IsZero() {
			continue
		}
		if left := model.NodeLossAfter(c) - p.now.Sub(n.SilentSince); left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}
