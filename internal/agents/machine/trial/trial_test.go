// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package trial

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func at(boot string, uptime time.Duration) Now { return Now{boot, uptime} }

func expect(t *testing.T, s State, step Step, reverting bool) {
	t.Helper()
	if s.Step != step || s.Reverting != reverting {
		t.Errorf("expected the step %s (reverting: %v), got %+v", step, reverting, s)
	}
}

func TestATrialGoesThroughItsSteps(t *testing.T) {
	s := New("new", "old", true, contact.Contacts{API: true}, at("a", 10)).Begin(at("a", 10))
	expect(t, s, Apply, false)
	s = s.Next(at("a", 20)).Begin(at("a", 20))
	expect(t, s, Act, false)
	s = s.Next(at("a", 30)).Begin(at("a", 30))
	expect(t, s, Reboot, false)
	expect(t, s.Begin(at("a", 40)), Reboot, false) // the host did not reboot
	s = s.Begin(at("b", 5))
	expect(t, s, Check, false)
	expect(t, s.Judge(contact.Wait, "", at("b", 6)), Check, false)
	expect(t, s.Judge(contact.Confirmed, "", at("b", 6)), Report, false)
	s = s.Judge(contact.Revert, "cut off", at("b", 7)).Begin(at("b", 7))
	expect(t, s, Apply, true)
	if s.Target() != "old" || s.Reason != "cut off" {
		t.Errorf("expected a revert to the previous configuration, got %+v", s)
	}
	s = s.Next(at("b", 8)).Next(at("b", 9))
	expect(t, s, Reboot, true)
	expect(t, s.Begin(at("c", 1)), Report, true)
	expect(t, s.Revert("again", at("c", 1)), Reboot, true)
	short := New("new", "old", false, contact.Contacts{}, at("a", 0))
	expect(t, short.Next(at("a", 0)).Next(at("a", 0)), Check, false)
}

func TestAStepThatNeverCompletesIsReverted(t *testing.T) {
	s := New("new", "old", false, contact.Contacts{}, at("a", 0))
	for range maxAttempts {
		s = s.Begin(at("a", 0))
		expect(t, s, Apply, false)
	}
	s = s.Begin(at("b", 0))
	expect(t, s, Apply, true)
	if !strings.Contains(s.Reason, "did not complete in 5 attempts") || s.Attempts != 1 {
		t.Errorf("expected a reason, got %+v", s)
	}
	for range maxReverting - 1 {
		s = s.Begin(at("a", 0))
		expect(t, s, Apply, true)
	}
	s = s.Begin(at("a", 0))
	expect(t, s, Act, true)
	if !strings.Contains(s.Reason, "needs a user") || !s.Failed {
		t.Errorf("expected the report to ask for help, got %q", s.Reason)
	}
	for range 100 { // a report can take as long as the API server is away
		s = s.Begin(at("a", 0))
	}
	expect(t, s, Report, true)
}

func TestAWrongDateAndARebootDoNotEndATrial(t *testing.T) {
	s := New("new", "old", false, contact.Contacts{}, at("a", time.Hour)).Next(at("a", time.Hour)).Next(at("a", time.Hour))
	for _, test := range []struct {
		now  Now
		want time.Duration
	}{{at("a", time.Hour), 0}, {at("a", time.Hour+30*time.Second), 30 * time.Second}, {at("b", 10*time.Second), 10 * time.Second}, {at("a", time.Minute), 0}} {
		if got := s.Elapsed(test.now); got != test.want {
			t.Errorf("%+v: expected %s, got %s", test.now, test.want, got)
		}
	}
}

func TestTheStateSurvivesAPowerLoss(t *testing.T) {
	first := New("new", "old", true, contact.Contacts{API: true, Peers: []string{"a"}}, at("a", 1))
	second := first.Next(at("a", 2))
	for crash := 0; ; crash++ {
		disk := disktest.New()
		store := NewStore(hostfs.New(disk), "/state")
		must(t, store.Save(first))
		disk.Crash(crash)
		err := store.Save(second)
		complete := disk.Calls() <= crash
		disk.PowerLosses(func(after *disktest.Disk) {
			got, found, err := NewStore(hostfs.New(after), "/state").Load()
			must(t, err)
			if !found || !cmp.Equal(got, second) && (complete || !cmp.Equal(got, first)) {
				t.Errorf("crash at %d: expected the old or the new state, got %+v", crash, got)
			}
		})
		if complete {
			must(t, err)
			return
		}
	}
}

func TestTheConfigurationsOfATrialStayOnTheHost(t *testing.T) {
	store := NewStore(hostfs.New(disktest.New()), "/state")
	if _, found, err := store.Load(); found || err != nil {
		t.Errorf("expected no trial, got %v", err)
	}
	for _, name := range []string{"old", "new", "older"} {
		encoded, err := hostconfig.Encode(hostconfig.Config{Name: name})
		must(t, err)
		must(t, store.Keep(name, encoded))
	}
	must(t, store.Save(New("new", "old", false, contact.Contacts{}, Now{})))
	must(t, store.Collect("old", "new"))
	for name, want := range map[string]bool{"old": true, "new": true, "older": false} {
		if c, err := store.Config(name); (err == nil) != want || want && c.Name != name {
			t.Errorf("%s: expected it to be there: %v, got %+v and %v", name, want, c, err)
		}
	}
	must(t, store.Clear())
	must(t, store.Clear())
	if _, found, err := store.Load(); found || err != nil {
		t.Errorf("expected the trial to be over, got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	content, _ := Encode(New("new", "old", true, contact.Contacts{API: true, Peers: []string{"a"}}, Now{"a", 1}))
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := Parse(content)
		if err != nil {
			return
		}
		again, err := Encode(s)
		must(t, err)
		if got, err := Parse(again); err != nil || got.Step != s.Step || got.Config != s.Config {
			t.Errorf("a state changes when it is saved: %+v, %v", got, err)
		}
	})
}
