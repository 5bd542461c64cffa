// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"slices"
	"time"
)

// Skew is by how much clocks may differ. What is dated later than that from now is of a wrong one.
const Skew = 5 * time.Minute

// Stored is a backup that is there.
type Stored struct {
	Object string
	// Name is that of a periodic one.
	Name Name
	// SavedAt is as in its record; zero without one.
	SavedAt time.Time
	// Complete is one that can be trusted: its record is there and speaks of it, and it has not
	// been found corrupt.
	Complete bool
	// Cluster is the one that it is of, as in its record; empty without one.
	Cluster string
}

// Newer orders backups, the newest first. When one was saved is reported by its record, and not by its name, which has the
// time of a schedule; only without a record there is nothing else. One that is dated in the future comes behind all
// that are not: no one knows when it was saved, and it is not to be taken for the newest until that time has come.
func (s Stored) Newer(than Stored, now time.Time) int {
	switch a, b := s.ahead(now), than.ahead(now); {
	case a && !b:
		return 1
	case b && !a:
		return -1
	}
	return cmp.Or(than.saved().Compare(s.saved()), s.Name.Newer(than.Name))
}

func (s Stored) ahead(now time.Time) bool { return s.saved().After(now.Add(Skew)) }

func (s Stored) saved() time.Time {
	if s.SavedAt.IsZero() {
		return s.Name.Time
	}
	return s.SavedAt
}

// Surplus are the backups to remove, the oldest first, so that of each cluster the newest complete ones stay, as many
// as keep: a cluster that was recreated under the same name may have nothing worth keeping yet. Those that are spared
// stay in any case, and zero keeps all.
//
// What is not complete does not count, and goes only when it is older than all of a cluster that are kept:
// it can be a backup that is being made, or one of the CoreOS operator, which has no record and
// may be all there is.
func Surplus(stored []Stored, keep int, now time.Time, spared ...string) []Stored {
	sorted := slices.SortedFunc(slices.Values(stored), func(a, b Stored) int { return a.Newer(b, now) })
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
