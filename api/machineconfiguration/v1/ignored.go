// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Ignored returns the names of the spec fields that the user set and that have no effect.
func (p *MachineConfigPool) Ignored() []string {
	var fields []string
	if len(p.Spec.PinnedImageSets) > 0 {
		fields = append(fields, "pinnedImageSets[].name")
	}
	if p.Spec.OSImageStream != nil {
		fields = append(fields, "osImageStream.name")
	}
	return fields
}
