// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// IsBusy reports whether a node carries out the order that it should have, so that its next step depends on no other node.
func (f *Fleet) IsBusy(node *corev1.Node) bool {
	pool, desired := f.Pool(f.Primary(node)), node.Annotations[machineorder.DesiredConfig]
	order, err := machineorder.ParseOrder(node.Annotations[machineorder.OrderAnnotation])
	if pool == nil || err != nil || order.Config != desired || IsControlPlane(node) || nodepatch.Has(node, nodepatch.Startup) {
		return false
	}
	switch Phase(node) {
	case rollout.Working, rollout.WantsUncordon:
		return true
	case rollout.Ordered:
		return desired == Goal(pool)
	}
	return false
}
