// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"slices"
	"time"
)

// Skew is the expected difference between clocks. A time that is further in the future comes from a wrong clock.
const Skew = 5 * time.Minute

// Stored describes one object in the store.
type Stored struct {
	Object string
	// Name is the parsed name of a periodic backup.
	Name Name
	// SavedAt is the time of saving from the record; zero if there is no record.
	SavedAt time.Time
	// Complete is true if the size of the object matches the record that describes it, and no verification has found
	// the backup corrupt.
	Complete bool
	// Cluster is the cluster ID from the record; empty if there is no record.
	Cluster string
}

// Newer compares two backups for sorting, with the newest first. The time of saving in the record takes precedence over
// the scheduled time in the name. Backups with a time in the future come last, because their real time is unknown.
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

// Surplus returns the backups to remove, oldest first. It keeps the newest complete backups of each cluster, up to keep
// (0 means all), and all that are spared. It removes an incomplete backup only if all kept backups are newer, because
// it may be in progress, or come from the CoreOS operator, which writes no record.
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
