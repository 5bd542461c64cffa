// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import "slices"

// Waste is from when on what is free of a member's data matters.
type Waste struct {
	// Percent is how much of the data is free, at least; 0: it never matters.
	Percent int
	// Size is what the data takes, in bytes, at least.
	Size int64
}

// Free is how much of a member's data a defragmentation would give back, in bytes.
func (s MemberStatus) Free() int64 { return max(0, s.DBSize-s.DBInUse) }

// Exceeds reports whether so much of a member's data is free.
func (s MemberStatus) Exceeds(w Waste) bool {
	return w.Percent > 0 && s.Err == nil && s.DBInUse > 0 && s.DBSize >= w.Size && s.Free()*100 >= int64(w.Percent)*s.DBSize
}

// weigh notes whose data exceeds what matters: sizes move all the while, and wake no one.
func (v *View) weigh(w Waste) {
	for id, status := range v.Status {
		if status.Exceeds(w) {
			v.Wasteful = append(v.Wasteful, id)
		}
	}
	slices.Sort(v.Wasteful)
}
