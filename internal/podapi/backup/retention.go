// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"slices"
	"time"
)

// Skew is how far clocks may differ. A later time comes from a wrong clock.
const Skew = 5 * time.Minute

// Stored is a stored backup.
type Stored struct {
	Object string
	// Name is the name of a periodic backup.
	Name Name
	// SavedAt is read from the record; zero without a record.
	SavedAt time.Time
	// Complete means that the record matches, and that no verification found the backup corrupt.
	Complete bool
	// Cluster is the cluster ID in the record; empty without a record.
	Cluster string
}

// Newer compares backups, and sorts the newest first. The time of saving, in the record, takes precedence over the
// scheduled time in the name. A backup with a time in the future comes last, because it is not known when it was saved.
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
// (0 means all), and all that are spared. An incomplete backup is removed only if it is older than all that are kept:
// it may be in progress, or made by the CoreOS operator without a record.
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
