// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"
	"testing"
	"time"
)

// of returns backups of the path p. A leading ! in a name marks an incomplete backup.
func of(names ...string) []Stored {
	var out []Stored
	for _, n := range names {
		complete := n[0] != '!'
		if !complete {
			n = n[1:]
		}
		if name, ok := ParseName("p", n); ok {
			out = append(out, Stored{Object: n, Name: name, Complete: complete, Cluster: "c"})
		}
	}
	return out
}

func at(revision int64, after time.Duration) string {
	return ObjectName("p", revision, noon.Add(after))
}

func TestTheNewestOfEachClusterStay(t *testing.T) {
	day := func(n int) string { return at(int64(n), time.Duration(n)*24*time.Hour) }
	for name, test := range map[string]struct {
		clusters string // cluster of each day's backup, starting with the first day; a dash means that the backup has no record
		keep     int
		want     []string
	}{
		"a cluster was recreated":            {"aaabb", 2, []string{day(1)}},
		"its first backup":                   {"aab", 1, []string{day(1)}},
		"each has as many":                   {"abababab", 2, []string{day(1), day(2), day(3), day(4)}},
		"what has no record is the oldest":   {"-abb", 2, []string{day(1)}},
		"what has no record may be all":      {"--ab", 2, nil},
		"what has no record is not so old":   {"aa-a", 3, nil},
		"an earlier one's are not in excess": {"aabbbb", 3, []string{day(3)}},
	} {
		var stored []Stored
		for i, cluster := range test.clusters {
			s := of(day(i + 1))[0]
			s.Cluster = string(cluster)
			if cluster == '-' {
				s.Cluster, s.Complete = "", false
			}
			stored = append(stored, s)
		}
		var got []string
		for _, s := range Surplus(stored, test.keep, noon.AddDate(1, 0, 0)) {
			got = append(got, s.Object)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: expected %q to go, got %q", name, test.want, got)
		}
	}
}

func TestTheNewestStay(t *testing.T) {
	day := func(revision int64, n int) string { return at(revision, time.Duration(n)*24*time.Hour) }
	for _, test := range []struct {
		name   string
		stored []Stored
		keep   int
		spared string
		want   []string
	}{
		{"a revision gains its second digit", of(day(8, 1), day(9, 2), day(10, 3)), 2, "", []string{day(8, 1)}},
		{"a revision gains its third digit", of(day(98, 1), day(99, 2), day(100, 3)), 1, "", []string{day(98, 1), day(99, 2)}},
		{"the revision is lower after a restore", of(day(900, 1), day(1000, 2), day(5, 3)), 2, "", []string{day(900, 1)}},
		{"of one time the higher revision stays", of(day(10, 1), day(9, 1)), 1, "", []string{day(9, 1)}},
		{"all stay", of(day(1, 1), day(2, 2)), 0, "", nil},
		{"there are not more than wanted", of(day(1, 1), day(2, 2)), 2, "", nil},
		{"there are none", nil, 2, "", nil},
		{"others' are not looked at", of(day(1, 1), "p_other_v1_2020-01-01-00:00:00", "p2_v1_2020-01-01-00:00:00", "p"), 1, "", nil},
		{"what is not complete does not count", of(day(1, 1), day(2, 2), "!"+day(3, 3)), 2, "", nil},
		{"what is not complete goes with what is older", of("!"+day(1, 1), day(2, 2), day(3, 3)), 2, "", []string{day(1, 1)}},
		{"what is not complete may be all there is", of("!"+day(1, 1), "!"+day(2, 2), "!"+day(3, 3)), 1, "", nil},
		{"what was just written stays though clocks went back", of(day(1, 1), day(2, 2), day(3, 3)), 1, day(1, 1), []string{day(2, 2)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			slices.Reverse(test.stored) // the order of the list must not matter
			var got []string
			for _, s := range Surplus(test.stored, test.keep, noon.AddDate(1, 0, 0), test.spared) {
				got = append(got, s.Object)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("expected %q to go, got %q", test.want, got)
			}
		})
	}
}

// A wrong clock or a user can cause a run with a future time. The name of the backup, and possibly its record, then
// contain this time.
func TestABackupThatIsDatedInTheFutureIsNotTheNewest(t *testing.T) {
	saved := func(name string, after time.Duration) Stored {
		s := of(name)[0]
		s.SavedAt = noon.Add(after)
		return s
	}
	const years = 10 * 365 * 24 * time.Hour
	hour := func(n int) string { return at(int64(n), time.Duration(n)*time.Hour) }
	for name, test := range map[string]struct {
		stored []Stored
		want   string // the backup that is kept if only one may be kept
	}{
		"its name lies":                         {[]Stored{saved(at(1, years), time.Hour), saved(hour(2), 2*time.Hour)}, hour(2)},
		"its name lies, and it is the newest":   {[]Stored{saved(hour(1), time.Hour), saved(at(2, years), 2*time.Hour)}, at(2, years)},
		"its record lies, too":                  {[]Stored{saved(at(1, years), years), saved(hour(2), 2*time.Hour)}, hour(2)},
		"only its record lies":                  {[]Stored{saved(hour(1), years), saved(hour(2), 2*time.Hour)}, hour(2)},
		"all records lie":                       {[]Stored{saved(hour(1), years), saved(hour(2), years+time.Hour)}, hour(2)},
		"a clock is a minute ahead":             {[]Stored{saved(hour(1), 4*time.Hour+time.Minute), saved(hour(2), 4*time.Hour)}, hour(1)},
		"it was saved late":                     {[]Stored{saved(hour(1), 3*time.Hour), saved(hour(2), 2*time.Hour)}, hour(1)},
		"its name lies, and it has no record":   {append(of("!"+at(1, years)), saved(hour(2), 2*time.Hour)), hour(2)},
		"it was saved when its schedule had it": {[]Stored{saved(hour(1), time.Hour), saved(hour(2), 2*time.Hour)}, hour(2)},
	} {
		gone := Surplus(test.stored, 1, noon.Add(4*time.Hour))
		if len(gone) != 1 || gone[0].Object == test.want {
			t.Errorf("%s: expected only %s to stay, got %v to go", name, test.want, gone)
		}
	}
}
