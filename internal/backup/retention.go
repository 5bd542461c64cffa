// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import "slices"

// Stored is a periodic backup that is there.
type Stored struct {
	Object string
	Name   Name
	// Complete is one that can be trusted: its record is there and speaks of it, and it has not
	// been found corrupt.
	Complete bool
}

// Surplus are the backups to remove, the oldest first, so that the newest complete ones stay,
// as many as keep. Those that are spared stay in any case, and zero keeps all.
//
// What is not complete does not count, and goes only when it is older than all that are kept:
// it can be a backup that is being made, or one of the CoreOS operator, which has no record and
// may be all there is.
func Surplus(stored []Stored, keep int, spared ...string) []Stored {
	sorted := slices.SortedFunc(slices.Values(stored), func(a, b Stored) int { return a.Name.Newer(b.Name) })
	var out []Stored
	kept := 0
	for _, s := range sorted {
		switch {
		case keep <= 0 || kept < keep:
			if s.Complete {
				kept++
			}
		case !slices.Contains(spared, s.Object):
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}
