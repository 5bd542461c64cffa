// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

const (
	timeLayout = "2006-01-02-15:04:05" // in UTC, like the CoreOS operator
	metaSuffix = ".meta.json"
)

// Name is the parsed name of a periodic backup.
type Name struct {
	// Revision is a revision that the snapshot contains.
	Revision int64
	// Time is the scheduled time, in UTC, to the second.
	Time time.Time
}

// ObjectName returns the key of a backup: the path itself if at is zero, or else
// <path>_v<revision>_<YYYY-MM-DD-HH:MM:SS>, like the CoreOS operator.
func ObjectName(path string, revision int64, at time.Time) string {
	if at.IsZero() {
		return path
	}
	return Prefix(path) + strconv.FormatInt(revision, 10) + "_" + at.UTC().Format(timeLayout)
}

// Prefix returns the prefix of a path's periodic backups. Other objects may have it too.
func Prefix(path string) string { return path + "_v" }

// ParseName reports whether an object is a periodic backup of exactly this path. It returns false for a key that
// ObjectName would write differently.
func ParseName(path, object string) (Name, bool) {
	rest, ok := strings.CutPrefix(object, Prefix(path))
	if !ok {
		return Name{}, false
	}
	number, date, ok := strings.Cut(rest, "_")
	if !ok {
		return Name{}, false
	}
	revision, err := strconv.ParseInt(number, 10, 64)
	if err != nil || revision < 0 {
		return Name{}, false
	}
	at, err := time.Parse(timeLayout, date)
	if err != nil || ObjectName(path, revision, at) != object {
		return Name{}, false
	}
	return Name{Revision: revision, Time: at}, true
}

// MetaName returns the key of the record of an object.
func MetaName(object string) string { return object + metaSuffix }

// Newer compares names, and sorts the newest first.
func (n Name) Newer(than Name) int {
	return cmp.Or(than.Time.Compare(n.Time), cmp.Compare(than.Revision, n.Revision))
}
