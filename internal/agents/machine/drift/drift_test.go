// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package drift

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func file(mode uint32, uid int, hash string) ledger.State {
	return ledger.State{Entry: hostfs.Entry{Type: hostfs.File, Mode: mode, UID: uid, Hash: hash}}
}

func records(rs ...ledger.Record) ledger.Ledger {
	l := ledger.Ledger{Config: "rendered-1", Records: map[ledger.Key]ledger.Record{}}
	for _, r := range rs {
		l.Records[r.Key] = r
	}
	return l
}

func TestEveryKindOfDriftIsFoundAndNamed(t *testing.T) {
	key := ledger.Key{Kind: ledger.Path, Name: "/etc/a"}
	absent := ledger.State{Entry: hostfs.Entry{Type: hostfs.Absent}}
	link := func(target string) ledger.State {
		return ledger.State{Entry: hostfs.Entry{Type: hostfs.Link, Target: target}}
	}
	value := func(v string) ledger.State { return ledger.State{Value: v} }
	for _, test := range []struct {
		name        string
		key         ledger.Key
		want, found ledger.State
		text        string
	}{
		{"none", key, file(0o644, 0, "a"), file(0o644, 0, "a"), ""},
		{"content", key, file(0o644, 0, "a"), file(0o644, 0, "b"), "/etc/a: the content was changed"},
		{"content that is not opcrew's", key, file(0o644, 0, ""), file(0o644, 0, "b"), ""},
		{"mode and owner", key, file(0o644, 0, "a"), file(0o600, 1, "a"), "/etc/a: the mode is 0600 instead of 0644, the owner is 1:0 instead of 0:0"},
		{"removed", key, file(0o644, 0, "a"), absent, "/etc/a: it is absent instead of file"},
		{"type", key, file(0o644, 0, "a"), link("x"), "/etc/a: it is link instead of file"},
		{"target", key, link("x"), link("y"), "/etc/a: the target is y instead of x"},
		{"unit", ledger.Key{Kind: ledger.Unit, Name: "x.service"}, value("enabled"), value("disabled"), "x.service: it is disabled instead of enabled"},
		{"sysctl", ledger.Key{Kind: ledger.Sysctl, Name: "net/a"}, value("1"), value("0"), "net/a: it is 0 instead of 1"},
		{"password", ledger.Key{Kind: ledger.Password, Name: "core"}, value("$secret"), value("$other"), "core: another program or user changed the password"},
		{"keys", ledger.Key{Kind: ledger.Keys, Name: "/k"}, value("a"), value(""), "/k: opcrew's block of SSH keys was changed"},
	} {
		got := Scan(records(ledger.Record{Key: test.key, Written: test.want}), map[ledger.Key]ledger.State{test.key: test.found})
		if test.text == "" && len(got) > 0 || test.text != "" && (len(got) != 1 || got[0].String() != test.text) {
			t.Errorf("%s: expected %q, got %v", test.name, test.text, got)
		}
	}
}

func TestThePolicyDecidesAboutDrift(t *testing.T) {
	now := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	drift := Drift{Key: ledger.Key{Kind: ledger.Path, Name: "/etc/a"}}
	old := Drift{Key: ledger.Key{Kind: ledger.Path, Name: "/etc/old"}, Undeclared: true}
	both := []Drift{drift, old}
	for _, test := range []struct {
		name   string
		policy Policy
		recent Repairs
		want   Decision
	}{
		{"report", Report, nil, Decision{Report: both}},
		{"unknown policy", "", nil, Decision{Report: both}},
		{"adopt", Adopt, nil, Decision{Adopt: []Drift{drift}, Report: []Drift{old}}},
		{"repair", Repair, nil, Decision{Repair: []Drift{drift}, Report: []Drift{old}}},
		{"repaired twice", Repair, Repairs{drift.Key: {now, now}}, Decision{Repair: []Drift{drift}, Report: []Drift{old}}},
		{"contested", Repair, Repairs{drift.Key: {now, now, now}}, Decision{Report: both, Contested: []Drift{drift}}},
		{"contested long ago", Repair, Repairs{drift.Key: {now.Add(-contestTime), now, now}}, Decision{Repair: []Drift{drift}, Report: []Drift{old}}},
	} {
		if diff := cmp.Diff(test.want, Decide(test.policy, both, test.recent, now)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	recent := Repairs{}.Add([]Drift{drift}, now.Add(-contestTime)).Add([]Drift{old}, now)
	if diff := cmp.Diff(Repairs{old.Key: {now}}, recent); diff != "" {
		t.Errorf("expected old repairs to be forgotten: %s", diff)
	}
}

func TestAdoptedDriftIsTheNewOriginal(t *testing.T) {
	key := ledger.Key{Kind: ledger.Path, Name: "/etc/a"}
	before, written, found := file(0o600, 0, "before"), file(0o644, 0, "written"), file(0o640, 0, "found")
	l := records(ledger.Record{Key: key, Before: before, Written: written})
	got := Adopted(l, []Drift{{Key: key, Want: written, Found: found}, {Key: ledger.Key{Name: "unknown"}}})
	want := records(ledger.Record{Key: key, Before: found, Written: found, Instead: &written})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(Scan(got, map[ledger.Key]ledger.State{key: found})) > 0 {
		t.Error("expected adopted drift not to be drift any more")
	}
	if l.Records[key].Before != before {
		t.Error("expected the given ledger to be unchanged")
	}
}

func TestTheWatcherReportsOnlyWhatTheLedgerNames(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "etc/sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "etc/a"), nil, 0o600))
	w := NewWatcher(root)
	t.Cleanup(func() { _ = w.Close() })
	key := func(name string) ledger.Record { return ledger.Record{Key: ledger.Key{Kind: ledger.Path, Name: name}} }
	must(t, w.Set(records(key("/etc/a"), key("/etc/sub/b"), key("/etc/missing/c"))))
	expect := func(what string, want bool) {
		t.Helper()
		wait := 2 * time.Second
		if !want {
			wait = 50 * time.Millisecond
		}
		select {
		case <-w.C:
			if !want {
				t.Errorf("%s: expected no report", what)
			}
		case <-time.After(wait):
			if want {
				t.Errorf("%s: expected a report", what)
			}
		}
	}
	must(t, os.WriteFile(filepath.Join(root, "etc/other"), nil, 0o600))
	expect("another file", false)
	must(t, os.Chmod(filepath.Join(root, "etc/a"), 0o640))
	expect("mode", true)
	must(t, os.WriteFile(filepath.Join(root, "etc/a"), []byte("x"), 0o600))
	expect("content", true)
	must(t, os.Rename(filepath.Join(root, "etc/other"), filepath.Join(root, "etc/a")))
	expect("replaced", true)
	must(t, os.RemoveAll(filepath.Join(root, "etc/sub")))
	expect("removed directory", true)
	must(t, w.Set(records(key("/etc/new"))))
	for len(w.C) > 0 {
		<-w.C
	}
	must(t, os.Remove(filepath.Join(root, "etc/a")))
	expect("a path that the ledger no longer has", false)
	must(t, os.Symlink("x", filepath.Join(root, "etc/new")))
	expect("new path", true)
}

func TestAHostWithoutAFreeWatchGetsOneLater(t *testing.T) {
	root := t.TempDir()
	w := NewWatcher(root)
	t.Cleanup(func() { _ = w.Close() })
	open := w.open
	w.open = func() (int, error) { return -1, unix.EMFILE }
	l := records(ledger.Record{Key: ledger.Key{Kind: ledger.Path, Name: "/a"}})
	if err := w.Set(l); !errors.Is(err, unix.EMFILE) {
		t.Errorf("expected the missing watch to be reported, got %v", err)
	}
	w.open = open
	must(t, w.Set(l))
	must(t, os.WriteFile(filepath.Join(root, "a"), nil, 0o600))
	select {
	case <-w.C:
	case <-time.After(10 * time.Second):
		t.Error("expected a report of the new file")
	}
}
