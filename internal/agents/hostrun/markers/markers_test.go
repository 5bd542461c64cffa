// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package markers

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// place returns a directory for markers, the files that record started runs. The clock of the *Dir is the function
// morning, which always returns the same time.
func place(t *testing.T) (string, *Dir) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "opcrew", "activities")
	m, err := Open(dir, morning)
	must(t, err)
	t.Cleanup(m.Close)
	return dir, m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAMarkerIsTakenOnce(t *testing.T) {
	dir, m := place(t)
	if found, err := m.Find("u-1"); found != nil || err != nil {
		t.Fatalf("expected no marker yet, got %v and %v", found, err)
	}
	must(t, m.Take("u-1", Marker{Created: morning(), Started: morning(), BootID: "b"}))
	if err := m.Take("u-1", Marker{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("expected the marker not to be taken again, got %v", err)
	}
	if found, err := m.Find("u-1"); err != nil || found.BootID != "b" || !found.Created.Equal(morning()) {
		t.Errorf("expected the content of the marker, got %+v and %v", found, err)
	}
	must(t, m.Take("u-2", Marker{}))
	for path, want := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, filepath.Dir(dir): 0o700 | fs.ModeDir, filepath.Join(dir, "u-1"): 0o600} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v, expected %v", path, info.Mode(), want)
		}
	}
}

func TestAResultTakesThePlaceOfAnOlderOne(t *testing.T) {
	dir, m := place(t)
	if _, err := m.Result("u-1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("expected no result yet, got %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "u-1"+nextSuffix), []byte("half a res"), 0o600))
	must(t, m.Keep("u-1", []byte("one")))
	must(t, m.Keep("u-1", []byte("two")))
	if text, err := m.Result("u-1"); string(text) != "two" || err != nil {
		t.Errorf("expected the later result, got %q and %v", text, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("expected nothing else to be left, got %v", entries)
	}
}

func TestASymlinkIsNeitherFollowedNorTakenForADirectory(t *testing.T) {
	dir, m := place(t)
	elsewhere := filepath.Join(t.TempDir(), "file")
	must(t, os.Symlink(elsewhere, filepath.Join(dir, "u-1")))
	must(t, os.Symlink(elsewhere, filepath.Join(dir, "u-1"+nextSuffix)))
	if err := m.Take("u-1", Marker{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("expected a symlink to count as a marker, got %v", err)
	}
	must(t, m.Keep("u-1", []byte("a result")))
	if _, err := os.Stat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("expected nothing to be written through a symlink, got %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	if _, err := Open(link, morning); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("expected a symlink to be refused, got %v", err)
	}
}

func TestADirectoryIsMadePrivate(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	m, err := Open(dir, morning)
	must(t, err)
	m.Close()
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("expected no other user to have access, got %v", info.Mode())
	}
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, path := range []string{filepath.Join(dir, "file"), filepath.Join(dir, "file", "below")} {
		if _, err := Open(path, morning); err == nil {
			t.Errorf("expected %s to be refused", path)
		}
	}
}

func TestADirectoryOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a directory away")
	}
	dir := t.TempDir()
	must(t, os.Chown(dir, 12345, 12345))
	if _, err := Open(dir, morning); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("expected a refusal, got %v", err)
	}
}

func TestRunsOfOldActivitiesAreForgotten(t *testing.T) {
	dir, m := place(t)
	file := func(name, text string, age time.Duration) {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		must(t, os.Chtimes(path, time.Time{}, morning().Add(-age)))
	}
	made := func(age time.Duration) string {
		text, err := json.Marshal(Marker{Created: morning().Add(-age)})
		must(t, err)
		return string(text)
	}
	const day = 24 * time.Hour
	file("old-1", made(2*day), 0)
	file("old-1"+ResultSuffix, "{}", 0)
	file("old-1"+nextSuffix, "{", 0)
	file("own-1", made(2*day), 0)
	file("own-1"+ResultSuffix, "{}", 0)
	file("young-1", made(time.Hour), 60*day)
	file("young-1"+ResultSuffix, "{}", 60*day)
	file("damaged-1", "{", 29*day)
	file("damaged-old-1", "{", 31*day)
	file("damaged-old-1"+ResultSuffix, "{}", 31*day)
	file("orphan-1"+ResultSuffix, "{}", 31*day)
	file("lost+found", "", 60*day)
	file("a-b-", "", 60*day)
	must(t, os.Mkdir(filepath.Join(dir, "directory-1"), 0o700))

	m.Forget(morning().Add(-day), "own-1")

	var left []string
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	want := "a-b- damaged-1 directory-1 lost+found own-1 own-1.result young-1 young-1.result"
	if got := strings.Join(left, " "); got != want {
		t.Errorf("expected %s to be left, got %s", want, got)
	}
}

func TestForgettingStopsWhenItTakesLong(t *testing.T) {
	dir, m := place(t)
	for _, run := range []string{"a-1", "b-1", "c-1"} {
		must(t, m.Take(run, Marker{Created: morning().Add(-time.Hour)}))
	}
	now := morning()
	m.now = func() time.Time { now = now.Add(MaxForget / 2); return now }
	m.Forget(morning(), "own-1")
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("expected one to be removed and two to be left for the next run, got %v", entries)
	}
}

// morning returns the creation time of the Activities in the tests.
func morning() time.Time { return time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC) }
