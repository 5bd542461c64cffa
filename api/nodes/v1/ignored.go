// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "slices"

// Ignored returns the names of the spec fields that the user set and that have no effect.
func (p *NodePool) Ignored() []string {
	if slices.ContainsFunc(p.Spec.Taints, func(t Taint) bool { return t.TimeAdded != "" }) {
		return []string{"taints[].timeAdded"}
	}
	return nil
}
