// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import "slices"

// Waste defines how much free space in a member's data makes a defragmentation worthwhile. Both limits must be reached.
type Waste struct {
	// Percent is the minimum percentage of the data that must be free; 0 means that a defragmentation is never
	// worthwhile.
	Percent int
	// Size is the minimum size of the data, in bytes.
	Size int64
}

// Free returns how much space a defragmentation of the member would free, in bytes.
func (s MemberStatus) Free() int64 { return max(0, s.DBSize-s.DBInUse) }

// Exceeds reports whether the member's free space reaches the limits in w.
func (s MemberStatus) Exceeds(w Waste) bool {
	return w.Percent > 0 && s.Err == nil && s.DBInUse > 0 && s.DBSize >= w.Size && s.Free()*100 >= int64(w.Percent)*s.DBSize
}

// weigh records the members whose free space reaches the limits in w. It records only IDs, because sizes change all the
// time, and each change of the view would start a reconcile.
func (v *View) weigh(w Waste) {
	for id, status := range v.Status {
		if status.Exceeds(w) {
			v.Wasteful = append(v.Wasteful, id)
		}
	}
	slices.Sort(v.Wasteful)
}
