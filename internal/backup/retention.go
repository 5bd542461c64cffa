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
	// Cluster is the one that it is of, as in its record; empty without one.
	Cluster string
}

// Surplus are the backups to remove, the oldest first, so that of each cluster the newest complete ones stay, as many
// as keep: a cluster that was made anew under the same name may have nothing worth keeping yet. Those that are spared
// stay in any case, and zero keeps all.
//
// What is not complete does not count, and goes only when it is older than all of a cluster that are kept:
// it can be a backup that is being made, or one of the CoreOS operator, which has no record and
// may be all there is.
func Surplus(stored []Stored, keep int, spared ...string) []Stored {
	sorted := slices.SortedFunc(slices.Values(stored), func(a, b Stored) int { return a.Name.Newer(b.Name) })
	var out []Stored
	kept, full := map[string]int{}, false
	for _, s := range sorted {
		switch {
		case keep <= 0 || kept[s.Cluster] < keep && (s.Cluster != "" || !full):
			if s.Complete {
				kept[s.Cluster]++
				full = full || kept[s.Cluster] == keep
			}
		case !slices.Contains(spared, s.Object):
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}
