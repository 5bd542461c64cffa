// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

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
	// A host that no one has cleaned for long must not hold up a command.
	maxEntries = 10_000
	maxForget  = 2 * time.Second
	// damagedAge is when a marker goes that does not tell when it was made.
	damagedAge = 30 * 24 * time.Hour
)

// forget removes what is older, as far as it comes: the next run goes on.
func (m *markers) forget(before time.Time, own string) {
	dir, err := m.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxEntries)
	for deadline := m.now().Add(maxForget); len(entries) > 0 && m.now().Before(deadline); entries = entries[1:] {
		if run, ours := runOf(entries[0].Name()); ours && run != own && m.outdated(run, entries[0], before) {
			m.remove(run)
		}
	}
}

// empty looks for the marker or the result of any run.
func (m *markers) empty() (bool, error) {
	dir, err := m.root.Open(".")
	if err != nil {
		return false, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { _, ours := runOf(e.Name()); return ours }), err
}

// runOf is the run that a file belongs to, by its name, if it is one of ours.
func runOf(name string) (string, bool) {
	run := strings.TrimSuffix(strings.TrimSuffix(name, resultSuffix), nextSuffix)
	dash := strings.LastIndexByte(run, '-')
	if dash < 0 {
		return run, false
	}
	_, err := strconv.ParseInt(run[dash+1:], 10, 64)
	return run, err == nil && hostjob.IsUID(run[:dash])
}

// outdated judges by the marker: also of a result, which may be without one after a crash.
func (m *markers) outdated(run string, entry os.DirEntry, before time.Time) bool {
	var content marker
	if text, err := m.read(run); err == nil && json.Unmarshal(text, &content) == nil && !content.Created.IsZero() {
		return content.Created.Before(before)
	}
	info, err := entry.Info()
	return err == nil && info.ModTime().Before(m.now().Add(-damagedAge))
}

// remove takes the marker last: one without a result is still found by the next run.
func (m *markers) remove(run string) {
	for _, name := range []string{run + nextSuffix, run + resultSuffix, run} {
		_ = m.root.Remove(name)
	}
}
