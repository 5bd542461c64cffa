// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"slices"
	"testing"
)

func TestAClusterSpeaksTheLowestMinorVersionSomeLooksAfterAllRunIt(t *testing.T) {
	w := &World{VersionLooks: 2}
	for _, name := range []string{"a", "b", "c"} {
		w.Run(pod(name, false, "a", "b", "c"))
	}
	store := dial(t, w, "a", "b", "c")
	speaks := func(when, want string) {
		t.Helper()
		for _, name := range []string{"a", "b"} {
			if got, err := store.ClusterVersion(t.Context(), clientURL(name)); err != nil || got != want {
				t.Errorf("%s: expected the cluster to speak %q, got %q, %v", when, want, got, err)
			}
		}
	}
	speaks("before the first look", "")
	list(t, store)
	list(t, store)
	speaks("after two looks", "3.6.0")
	runs(w, "3.7.3", "a", "b")
	list(t, store)
	list(t, store)
	speaks("while one still runs the old one", "3.6.0")
	w.Stop("c")
	list(t, store)
	list(t, store)
	speaks("while one does not run", "3.6.0")
	runs(w, "3.7.0", "c")
	list(t, store)
	speaks("just after the last has come up", "3.6.0")
	list(t, store)
	speaks("two looks later", "3.7.0")
	_, err := store.ClusterVersion(t.Context(), clientURL("d"))
	expect(t, err, errRefused)
	if got := w.Violations(); len(got) != 0 {
		t.Errorf("expected no violation, got %v", got)
	}
}

func TestAMemberTwoMinorVersionsAheadOfItsClusterIsAViolation(t *testing.T) {
	w := formed("a", "b", "c")
	runs(w, "3.8.1", "b")
	if got := w.Violations(); !slices.Equal(got, []string{"b runs 3.8.1 in a cluster that speaks 3.6.0"}) {
		t.Errorf("expected a violation, got %v", got)
	}
}

func TestAMemberOf37CannotReadWhat35WroteBeforeTheLastSnapshot(t *testing.T) {
	for name, test := range map[string]struct {
		begun   string
		entries uint64
		want    []string
	}{
		"begun on 3.6":                      {"3.6.16", 0, nil},
		"begun on 3.5, and quiet":           {"3.5.35", 0, []string{"b runs 3.7.3 on a log that it cannot parse"}},
		"begun on 3.5, and not busy enough": {"3.5.35", 80, []string{"b runs 3.7.3 on a log that it cannot parse"}},
		"begun on 3.5, with a snapshot":     {"3.5.35", 120, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := &World{SnapshotCount: 100, AdvanceMost: 60}
			for _, version := range []string{test.begun, "3.6.16"} {
				runs(w, version, "a", "b", "c")
				list(t, dial(t, w, "a"))
			}
			store := dial(t, w, "a")
			for range 2 {
				expect(t, store.Advance(t.Context(), test.entries/2), nil)
			}
			runs(w, "3.7.3", "b")
			if got := w.Violations(); !slices.Equal(got, test.want) || w.Serving("b") != (test.want == nil) || w.Advanced() != test.entries {
				t.Errorf("expected %q, got %q after %d entries", test.want, got, w.Advanced())
			}
		})
	}
}
