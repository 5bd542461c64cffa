// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func (b *bench) verifying(object string) backup.Order {
	o := b.order()
	o.Verify = &backup.Verify{Object: object, ScratchDir: b.TempDir()}
	return o
}

func (b *bench) restoring(dir string) backup.Order {
	o := b.order()
	o.Restore = &backup.Restore{
		DataDir: filepath.Join(dir, "data"), Name: "a", InitialCluster: "a=http://127.0.0.1:2380", Token: "t", PeerURLs: []string{"http://127.0.0.1:2380"},
	}
	return o
}

func TestACorruptBackupIsFoundAndRecorded(t *testing.T) {
	for name, test := range map[string]struct {
		change func([]byte) []byte
		words  string
	}{
		"a bit":               {func(text []byte) []byte { text[700] ^= 4; return text }, "hash at the end"},
		"a bit of the hash":   {func(text []byte) []byte { text[len(text)-1] ^= 4; return text }, "hash at the end"},
		"cut off":             {func(text []byte) []byte { return text[:len(text)-512] }, "has 4640 bytes, but 5152 were saved"},
		"longer":              {func(text []byte) []byte { return append(text, 0) }, "has 5153 bytes, but 5152 were saved"},
		"empty":               {func([]byte) []byte { return nil }, "has 0 bytes"},
		"that of another one": {func([]byte) []byte { return stream(database(99, 10)) }, "complete snapshot, but not the one that was saved"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.object(named(1, 1), 1)
			b.object(named(2, 2), 2)
			record := b.record(named(2, 2))
			b.put(named(2, 2), test.change(b.content(named(2, 2))), &record)
			o := b.verifying(named(2, 2))
			b.runs(o, backup.Failed, backup.ReasonCorrupt, test.words)
			if got := b.record(named(2, 2)); got.Verified == nil || got.Verified.Corrupt == "" {
				t.Errorf("expected the proof to be recorded, got %+v", got)
			}
			if r := b.runs(b.restoring(t.TempDir()), backup.Succeeded, ""); r.Object != named(1, 1) || len(b.jobs) != 1 {
				t.Errorf("expected the previous backup to be restored, got %+v", r)
			}
			empty(t, o.Verify.ScratchDir)
		})
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil {
		t.Errorf("expected nothing to be left in %s, got %v, %v", dir, entries, err)
	}
}

func TestAProofIsRecorded(t *testing.T) {
	b := newBench(t)
	b.object(named(9, 1), 9)
	b.object(named(10, 2), 10)
	b.put(named(11, 3), []byte("half"), nil)
	r := b.runs(b.verifying(""), backup.Succeeded, "")
	if r.Object != named(10, 2) || r.Verification == nil || !r.Verification.HashCompared || b.jobs[0].Meta.Revision != 10 {
		t.Errorf("expected the newest complete one, got %+v", r)
	}
	if got := b.record(named(10, 2)); got.Verified == nil || got.Verified.Corrupt != "" {
		t.Errorf("got %+v", got)
	}
	b.fault = backup.Fail(backup.ReasonDiskFull, "full")
	b.runs(b.verifying(""), backup.Failed, backup.ReasonDiskFull)
	if got := b.record(named(10, 2)); got.Verified.Corrupt != "" {
		t.Error("expected a full disk not to mark the backup as corrupt")
	}
	b.fault = backup.Fail(backup.ReasonProcessFailed, "signal: killed")
	b.runs(b.verifying(""), backup.Failed, backup.ReasonProcessFailed)
	if got := b.record(named(10, 2)); got.Verified.Corrupt != "" {
		t.Error("expected a killed proof not to mark the backup as corrupt")
	}
	b.fault = backup.Fail(backup.ReasonNotRestorable, "it panics")
	b.runs(b.verifying(""), backup.Failed, backup.ReasonNotRestorable)
	if got := b.record(named(10, 2)); got.Verified.Corrupt != "it panics" {
		t.Errorf("got %+v", got)
	}
}

func TestAProofThatCannotBeRecordedIsReported(t *testing.T) {
	b := newBench(t)
	b.object(named(9, 1), 9)
	b.Open = failing(func(key string) bool { return key == backup.MetaName(named(9, 1)) })
	if r := b.runs(b.verifying(""), backup.Succeeded, backup.ReasonNotRecorded, "the result of the verification could not be recorded: "); r.Verification == nil {
		t.Errorf("expected the proof to count, got %+v", r)
	}
	b.fault = backup.Fail(backup.ReasonNotRestorable, "it panics")
	b.runs(b.verifying(""), backup.Failed, backup.ReasonNotRestorable, "it panics; this result could not be recorded, so the backup still counts as good: ")
}

func TestACorruptBackupIsRestoredOnlyByNameAndWithAWarning(t *testing.T) {
	b := newBench(t)
	b.object("dir/shop", 9)
	m := b.record("dir/shop")
	m.Verified = &backup.Verified{At: noon, Corrupt: "it panics"}
	b.put("dir/shop", b.content("dir/shop"), &m)
	b.runs(b.restoring(t.TempDir()), backup.Failed, backup.ReasonCorrupt, "it panics; to restore it nevertheless")
	o := b.restoring(t.TempDir())
	o.Restore.Object = "dir/shop"
	for range 2 { // the second run simulates a restarted pod
		if r := b.runs(o, backup.Succeeded, backup.ReasonCorrupt, "the verification of 2026-07-08T12:00:00Z found the backup corrupt: it panics"); r.Object != "dir/shop" {
			t.Errorf("got %+v", r)
		}
	}
}

func TestABackupOfTheCoreOSOperatorCanBeRead(t *testing.T) {
	b := newBench(t)
	b.runs(b.verifying(""), backup.Failed, backup.ReasonObjectMissing, `there is no backup "dir/shop"`)
	b.put(named(9, 1), stream(database(9, 10)), nil)
	b.runs(b.verifying(""), backup.Failed, backup.ReasonObjectMissing, "none of the 1 backups", named(9, 1))
	if r := b.runs(b.verifying(named(9, 1)), backup.Succeeded, ""); r.Revision != 9 || b.jobs[0].Meta != nil {
		t.Errorf("got %+v", r)
	}
	b.runs(b.verifying("dir/shop"), backup.Failed, backup.ReasonObjectMissing, `there is no backup "dir/shop"`)
	b.put("dir/shop", stream(database(9, 10)), nil)
	if r := b.runs(b.verifying("dir/shop"), backup.Succeeded, ""); r.Object != "dir/shop" {
		t.Errorf("expected the object at the path itself, got %+v", r)
	}
	if r := b.runs(b.restoring(t.TempDir()), backup.Succeeded, ""); r.Object != "dir/shop" {
		t.Errorf("got %+v", r)
	}
	b.put("dir/shop", stream(database(9, 10))[1:], nil)
	b.runs(b.restoring(t.TempDir()), backup.Failed, backup.ReasonCorrupt)
}

func TestARestoreIsMadeOnce(t *testing.T) {
	b := newBench(t)
	b.object(named(9, 1), 9)
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, ".data.restoring", "data"), 0o700)) // a directory that a crash left behind
	must(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
	first := b.runs(b.restoring(dir), backup.Succeeded, "")
	if first.Object != named(9, 1) || first.RestoredRevision != 1007 || first.Again {
		t.Errorf("got %+v", first)
	}
	b.object(named(10, 2), 10)
	again := b.runs(b.restoring(dir), backup.Succeeded, "")
	if first.Again = true; !same(first, again) || len(b.jobs) != 1 {
		t.Errorf("expected %+v, got %+v", first, again)
	}
	other := b.restoring(dir)
	other.ID = "order-2"
	b.runs(other, backup.Failed, backup.ReasonDataDirInUse, "another order")
	changed := b.restoring(dir)
	changed.Restore.Name = "b"
	b.runs(changed, backup.Failed, backup.ReasonDataDirInUse)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("expected the data directory alone, got %v, %v", entries, err)
	}
}

func TestADataDirectoryInUseIsLeftAlone(t *testing.T) {
	b := newBench(t)
	b.object(named(9, 1), 9)
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "data", "member"), 0o700))
	b.runs(b.restoring(dir), backup.Failed, backup.ReasonDataDirInUse, "is not empty, and was not restored")
}

func TestARestoreThatFailsLeavesNothing(t *testing.T) {
	b := newBench(t)
	b.object(named(9, 1), 9)
	b.fault = backup.Fail(backup.ReasonNotRestorable, "it panics")
	dir := t.TempDir()
	b.runs(b.restoring(dir), backup.Failed, backup.ReasonNotRestorable, "it panics")
	empty(t, dir)
	b.runs(b.restoring(filepath.Join(dir, "none")), backup.Failed, backup.ReasonVolumeFailed)
}

func TestAWrongOrderIsInvalid(t *testing.T) {
	b := newBench(t)
	b.runs(b.order(), backup.Invalid, backup.ReasonBadOrder, "one of save, prune")
	o := b.saving(1)
	o.Target.Dir = filepath.Join(b.dir, "none")
	o.Save.Endpoints = []string{"http://127.0.0.1:1"}
	b.runs(o, backup.Failed, backup.ReasonBucketMissing, "check that its volume is mounted")
}

// savedAt writes a backup whose time of saving differs from the time in its name.
func (b *bench) savedAt(key string, at time.Time) {
	b.Helper()
	b.object(key, 7)
	m := b.record(key)
	m.SavedAt = at
	b.put(key, b.content(key), &m)
}

func TestTheBackupThatWasSavedLastIsRead(t *testing.T) {
	const itself = "dir/shop"
	future := today.AddDate(10, 0, 0)
	lying := backup.ObjectName("dir/shop", 9, future)
	for name, test := range map[string]struct {
		saved map[string]time.Time // a zero time means a backup without a record
		named string
		want  string
	}{
		"the one at the path itself is older":       {map[string]time.Time{itself: day(1), named(1, 2): day(2)}, "", named(1, 2)},
		"the one at the path itself is newer":       {map[string]time.Time{itself: day(3), named(1, 2): day(2)}, "", itself},
		"the one at the path itself has no record":  {map[string]time.Time{itself: {}, named(1, 2): day(2)}, "", named(1, 2)},
		"the one at the path itself is named":       {map[string]time.Time{itself: day(1), named(1, 2): day(2)}, itself, itself},
		"a name has a time that has not come":       {map[string]time.Time{lying: day(1), named(1, 2): day(2)}, "", named(1, 2)},
		"its record has it, too":                    {map[string]time.Time{lying: future, named(1, 2): day(2)}, "", named(1, 2)},
		"the newest has a name that has not come":   {map[string]time.Time{lying: day(3), named(1, 2): day(2)}, "", lying},
		"there is nothing but one of a wrong clock": {map[string]time.Time{lying: future}, "", lying},
		"it is named": {map[string]time.Time{lying: future, named(1, 2): day(2)}, lying, lying},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for key, at := range test.saved {
				if at.IsZero() {
					b.put(key, stream(database(7, 10)), nil)
					continue
				}
				b.savedAt(key, at)
			}
			o := b.restoring(t.TempDir())
			o.Restore.Object = test.named
			r := b.runs(o, backup.Succeeded, "")
			if at := test.saved[test.want]; r.Object != test.want || !r.SavedAt.Equal(at) {
				t.Errorf("expected %s to be restored, saved at %s, got %+v", test.want, at, r)
			}
		})
	}
}
