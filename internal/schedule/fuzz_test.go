// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"
)

func FuzzParse(f *testing.F) {
	f.Add("0 3 * * *", "Europe/Berlin")
	f.Add("*/10 1-5 30 2 0", "UTC")
	f.Add("@yearly", "../../etc/passwd")
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text, zone string) {
		s, err := Parse(text, zone)
		if err != nil {
			return
		}
		next := s.Next(from)
		if !next.IsZero() && !next.After(from) {
			t.Errorf("%q in %q: the time after %s is %s", text, zone, from, next)
		}
		if last := s.Latest(from, from.Add(48*time.Hour)); last.After(from.Add(48 * time.Hour)) {
			t.Errorf("%q in %q: the last time is %s", text, zone, last)
		}
	})
}
