// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"slices"
	"time"
)

// Skew is how much clocks may differ. A backup that is dated later comes from a wrong clock.
const Skew = 5 * time.Minute

// Stored is a stored backup.
type Stored struct {
	Object string
	// Name is the name of a periodic backup.
	Name Name
	// SavedAt comes from its record; zero without one.
	SavedAt time.Time
	// Complete means that its record matches and that it was not found corrupt.
	Complete bool
	// Cluster comes from its record; empty without one.
	Cluster string
}

// Newer orders backups, the newest first. The record has the time of saving, while the name has that of the schedule, which
// only counts without a record. A backup that is dated in the future comes last, because its time of saving is unknown.
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

// Surplus returns the backups to remove, oldest first. Of each cluster the newest complete ones stay, keep of them; 0 keeps
// all. Spared ones always stay. An incomplete backup does not count, and goes only if it is older than all that are kept: it
// may be in progress, or made by the CoreOS operator, without a record.
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
