// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package ledger

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func entry(entry hostfs.Type, mode uint32, uid int, hash string) State {
	return State{Entry: hostfs.Entry{Type: entry, Mode: mode, UID: uid, Hash: hash}}
}

func sample(config string) Ledger {
	l := Ledger{Config: config, Records: map[Key]Record{}}
	for _, r := range []Record{
		{Key: Key{Path, "/etc/a"}, Before: State{Entry: hostfs.Entry{Type: hostfs.Absent}}, Written: entry(hostfs.File, 0o644, 0, "00"), Pending: true},
		{Key: Key{Unit, "a.service"}, Before: State{Value: "disabled"}, Written: State{Value: "enabled"}, Instead: &State{Value: "x"}},
		{Key: Key{Sysctl, "net/ipv4/ip_forward"}, Before: State{Value: "0"}, Written: State{Value: "1"}, Undeclared: true},
	} {
		l.Records[r.Key] = r
	}
	return l
}

func TestALedgerArrivesUnchanged(t *testing.T) {
	content, err := Encode(sample("rendered-1"))
	must(t, err)
	got, err := Parse(content)
	if diff := cmp.Diff(sample("rendered-1"), got); diff != "" || err != nil {
		t.Errorf("expected the same ledger, got %v, %s", err, diff)
	}
}

func TestADamagedLedgerIsNotAnEmptyOne(t *testing.T) {
	good, err := Encode(sample("rendered-1"))
	must(t, err)
	seal := func(text string) []byte { return []byte(header + hostfs.Hash([]byte(text)) + "\n" + text) }
	flipped := append([]byte{}, good...)
	flipped[len(flipped)-10] ^= 1
	for name, content := range map[string][]byte{
		"empty":         {},
		"torn":          good[:len(good)-1],
		"torn early":    good[:20],
		"a flipped bit": flipped,
		"unknown field": seal(`{"records":[],"more":1}`),
		"text after":    seal(`{"records":[]}{}`),
		"no path":       seal(`{"records":[{"kind":"path","name":"/etc/../x","before":{},"written":{}}]}`),
		"unknown kind":  seal(`{"records":[{"kind":"x","name":"/etc","before":{},"written":{}}]}`),
		"twice": seal(`{"records":[{"kind":"path","name":"/a","before":{},"written":{}},
			{"kind":"path","name":"/a","before":{},"written":{}}]}`),
		"sysctl outside": seal(`{"records":[{"kind":"sysctl","name":"../../etc/x","before":{},"written":{}}]}`),
	} {
		if _, err := Parse(content); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: expected the ledger to be reported as damaged, got %v", name, err)
		}
	}
}

func TestAStateIsExplainedOnlyByWhatOpcrewDid(t *testing.T) {
	absent := State{Entry: hostfs.Entry{Type: hostfs.Absent}}
	before, written := entry(hostfs.File, 0o600, 1, "b"), entry(hostfs.File, 0o644, 2, "w")
	r := Record{Key: Key{Path, "/a"}, Before: before, Written: written}
	pending, undeclared, link := r, r, r
	pending.Pending, pending.Previous, undeclared.Undeclared = true, before, true
	link.Pending, link.Previous = true, State{Entry: hostfs.Entry{Type: HardLink, Target: "/b"}}
	for _, test := range []struct {
		name   string
		record Record
		found  State
		want   bool
	}{
		{"what was written", r, written, true},
		{"the original, while declared", r, before, false},
		{"another mode", r, entry(hostfs.File, 0o600, 2, "w"), false},
		{"removed", r, absent, false},
		{"another label", r, State{Entry: hostfs.Entry{Type: hostfs.File, Mode: 0o644, UID: 2, Hash: "w", Label: "x"}}, true},
		{"pending and not begun", pending, before, true},
		{"pending and complete", pending, written, true},
		{"pending, owner changed, mode not yet", pending, entry(hostfs.File, 0o600, 2, "b"), true},
		{"pending, another owner", pending, entry(hostfs.File, 0o600, 3, "b"), false},
		{"pending without change of type, removed", pending, absent, false},
		{"pending with change of type, removed", link, absent, true},
		{"a hard link whose target was replaced", link, entry(hostfs.File, 0o7, 7, "7"), true},
		{"undeclared and restored", undeclared, before, true},
		{"undeclared and not restored", undeclared, written, false},
	} {
		if got := test.record.Explains(test.found); got != test.want {
			t.Errorf("%s: expected %v, got %v", test.name, test.want, got)
		}
	}
}

// TestAPowerLossLeavesTheOldOrTheNewLedger stops at every writing call, and loses every subset of what was not synced.
func TestAPowerLossLeavesTheOldOrTheNewLedger(t *testing.T) {
	for crash := 0; ; crash++ {
		disk := disktest.New()
		store := NewStore(hostfs.New(disk), "/var/lib/opcrew/machine")
		must(t, store.Save(sample("old")))
		disk.Crash(crash)
		err := errors.Join(store.Keep([]byte("text")), store.Save(sample("new")))
		complete := disk.Calls() <= crash
		disk.PowerLosses(func(after *disktest.Disk) {
			again := NewStore(hostfs.New(after), "/var/lib/opcrew/machine")
			must(t, again.Settle())
			l, loadErr := again.Load()
			must(t, loadErr)
			if l.Config != "new" && (complete || l.Config != "old") {
				t.Errorf("crash at %d: expected the old or the new ledger, got %+v", crash, l)
			}
			if _, err := again.Original(hostfs.Hash([]byte("text"))); l.Config == "new" && err != nil {
				t.Errorf("crash at %d: expected the copy to be there before the ledger that needs it, got %v", crash, err)
			}
		})
		if complete {
			must(t, err)
			break
		}
	}
}

func TestCopiesStayAsLongAsTheLedgerNeedsThem(t *testing.T) {
	fs := hostfs.New(disktest.New())
	store := NewStore(fs, "/state")
	must(t, errors.Join(store.Keep([]byte("a")), store.Keep([]byte("b"))))
	hash := hostfs.Hash([]byte("a"))
	must(t, store.Collect(Ledger{Records: map[Key]Record{{}: {Before: entry(hostfs.File, 0, 0, hash)}}}))
	if names, err := fs.Names("/state/originals"); err != nil || len(names) != 1 || names[0] != hash {
		t.Errorf("expected only the needed copy, got %v and %v", names, err)
	}
	must(t, fs.WriteFile("/state/originals/"+hash, []byte("x"), hostfs.Entry{}))
	if _, err := store.Original(hash); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("expected a damaged copy not to be restored, got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	content, _ := Encode(sample("a"))
	f.Add(content)
	f.Add([]byte(`{"records":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, content := range [][]byte{text, []byte(header + hostfs.Hash(text) + "\n" + string(text))} {
			l, err := Parse(content)
			if err != nil {
				continue
			}
			again, err := Encode(l)
			must(t, err)
			if got, err := Parse(again); err != nil || !cmp.Equal(l, got) {
				t.Fatalf("a ledger changes when it is saved: %v, %s", err, cmp.Diff(l, got))
			}
		}
	})
}
