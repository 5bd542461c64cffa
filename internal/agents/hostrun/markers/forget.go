// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package markers

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	// maxEntries limits how many files one call of Forget examines, so that many old markers on a host do not delay a
	// command.
	maxEntries = 10_000
	// MaxForget is how long one call of Forget may take.
	MaxForget = 2 * time.Second
	// damagedAge is the age at which a marker without a creation time is removed.
	damagedAge = 30 * 24 * time.Hour
)

// Forget removes the markers and results of older runs within a time limit. Later calls remove what is left.
func (m *Dir) Forget(before time.Time, own string) {
	dir, err := m.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxEntries)
	for deadline := m.now().Add(MaxForget); len(entries) > 0 && m.now().Before(deadline); entries = entries[1:] {
		if run, ours := runOf(entries[0].Name()); ours && run != own && m.outdated(run, entries[0], before) {
			m.remove(run)
		}
	}
}

// Empty reports whether the directory has no marker and no result of any run.
func (m *Dir) Empty() (bool, error) {
	dir, err := m.root.Open(".")
	if err != nil {
		return false, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { _, ours := runOf(e.Name()); return ours }), err
}

// runOf returns the run that a file belongs to, according to the name of the file; false if the file belongs to no run.
func runOf(name string) (string, bool) {
	run := strings.TrimSuffix(strings.TrimSuffix(name, ResultSuffix), nextSuffix)
	dash := strings.LastIndexByte(run, '-')
	if dash < 0 {
		return run, false
	}
	_, err := strconv.ParseInt(run[dash+1:], 10, 64)
	return run, err == nil && hostjob.IsUID(run[:dash])
}

// outdated reports whether the marker and the result of a run can be removed. The creation time in the marker decides,
// for a result file too. If there is no such time, for example because a crash left a result without a marker, the age
// of the file decides.
func (m *Dir) outdated(run string, entry os.DirEntry, before time.Time) bool {
	var content Marker
	if text, err := m.read(run); err == nil && json.Unmarshal(text, &content) == nil && !content.Created.IsZero() {
		return content.Created.Before(before)
	}
	info, err := entry.Info()
	return err == nil && info.ModTime().Before(m.now().Add(-damagedAge))
}

// remove deletes the files of a run, the marker last. After a crash in between, the next start of the run still finds a
// marker without a result.
func (m *Dir) remove(run string) {
	for _, name := range []string{run + nextSuffix, run + ResultSuffix, run} {
		_ = m.root.Remove(name)
	}
}
