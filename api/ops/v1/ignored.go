// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Ignored returns the names of the spec fields that the user set and that have no effect.
func (d *Diva) Ignored() []string {
	if d.Spec.Extra.Replicas != nil && *d.Spec.Extra.Replicas != 1 { // a Diva has one init container anyway
		return []string{"extra.replicas"}
	}
	return nil
}
