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
	timeLayout = "2006-01-02-15:04:05" // times are in UTC; the format is that of the CoreOS operator
	metaSuffix = ".meta.json"
)

// Name is the parsed name of a periodic backup.
type Name struct {
	// Revision is a revision that the snapshot contains.
	Revision int64
	// Time is the scheduled time in UTC, in whole seconds.
	Time time.Time
}

// ObjectName returns the object key of a backup. For a single backup (at is zero) the key is the path itself. For a
// periodic backup it is <path>_v<revision>_<YYYY-MM-DD-HH:MM:SS>, as with the CoreOS operator.
func ObjectName(path string, revision int64, at time.Time) string {
	if at.IsZero() {
		return path
	}
	return Prefix(path) + strconv.FormatInt(revision, 10) + "_" + at.UTC().Format(timeLayout)
}

// Prefix returns the common prefix of the periodic backups of a path. Other objects may also have this prefix.
func Prefix(path string) string { return path + "_v" }

// ParseName parses the key of a periodic backup of exactly this path. It returns false for any key that ObjectName
// would not produce.
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

// MetaName returns the key of an object's record.
func MetaName(object string) string { return object + metaSuffix }

// Newer compares two names for sorting, with the newest first.
func (n Name) Newer(than Name) int {
	return cmp.Or(than.Time.Compare(n.Time), cmp.Compare(than.Revision, n.Revision))
}
