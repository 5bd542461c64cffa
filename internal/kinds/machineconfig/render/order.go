// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"slices"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// Order returns the MachineConfigs in the order in which they are merged; a later one overrides an earlier one. Those
// with the role worker come first, so that a custom pool can override them whatever their names are. The others follow.
// Each group is sorted by name.
func Order(configs []mcfgv1.MachineConfig) []mcfgv1.MachineConfig {
	out := slices.Clone(configs)
	slices.SortStableFunc(out, func(a, b mcfgv1.MachineConfig) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func rank(mc mcfgv1.MachineConfig) int {
	if mc.Labels[mcfgv1.RoleLabel] == mcfgv1.PoolWorker {
		return 0
	}
	return 1
}
