// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Ignored returns the names of the spec fields that the user set and that have no effect.
func (d *Diva) Ignored() []string {
	// The value 1 is not reported, because a Diva always has exactly one init container.
	if d.Spec.Extra.Replicas != nil && *d.Spec.Extra.Replicas != 1 {
		return []string{"extra.replicas"}
	}
	return nil
}
