// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import "slices"

// Waste is when free space in a member's data matters.
type Waste struct {
	// Percent is the least percentage of the data that is free; 0 means never.
	Percent int
	// Size is the least size of the data, in bytes.
	Size int64
}

// Free is how much of a member's data a defragmentation would free, in bytes.
func (s MemberStatus) Free() int64 { return max(0, s.DBSize-s.DBInUse) }

// Exceeds reports whether so much of a member's data is free.
func (s MemberStatus) Exceeds(w Waste) bool {
	return w.Percent > 0 && s.Err == nil && s.DBInUse > 0 && s.DBSize >= w.Size && s.Free()*100 >= int64(w.Percent)*s.DBSize
}

// weigh notes the members whose free space matters. Sizes themselves change all the time and do not matter.
func (v *View) weigh(w Waste) {
	for id, status := range v.Status {
		if status.Exceeds(w) {
			v.Wasteful = append(v.Wasteful, id)
		}
	}
	slices.Sort(v.Wasteful)
}
