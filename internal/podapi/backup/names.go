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
	timeLayout = "2006-01-02-15:04:05" // in UTC, as the CoreOS operator has it
	metaSuffix = ".meta.json"
)

// Name is what the name of a periodic backup says.
type Name struct {
	// Revision is one that the snapshot is not older than, in etcd's count.
	Revision int64
	// Time is that of the occurrence, in UTC, to the second.
	Time time.Time
}

// ObjectName is what the backup of a path is called: the path itself without a time, and
// <path>_v<revision>_<YYYY-MM-DD-HH:MM:SS> with one. It is the CoreOS operator's contract.
func ObjectName(path string, revision int64, at time.Time) string {
	if at.IsZero() {
		return path
	}
	return Prefix(path) + strconv.FormatInt(revision, 10) + "_" + at.UTC().Format(timeLayout)
}

// Prefix is what names of a path's periodic backups begin with, and others may as well.
func Prefix(path string) string { return path + "_v" }

// ParseName reports whether an object is a periodic backup of exactly this path. Anything that
// ObjectName would write otherwise is someone else's.
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

// MetaName is where the record of an object is.
func MetaName(object string) string { return object + metaSuffix }

// Newer orders names, the newest first.
func (n Name) Newer(than Name) int {
	return cmp.Or(than.Time.Compare(n.Time), cmp.Compare(than.Revision, n.Revision))
}
