// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package elections knows how soon a replica of Redis or Valkey can be elected again. The operator and the hook of a
// pod use it. Which replica to elect is decided elsewhere.
package elections

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pause returns the time after an election, won or lost, in which a replica does not begin another: 4 node timeouts, at
// least 4 seconds (cluster.c, clusterHandleSlaveFailover, auth_retry_time). An earlier request only stops writes, or
// makes two primaries for a while: see docs/design/redis.md.
func Pause(nodeTimeout time.Duration) time.Duration { return 2 * max(2*nodeTimeout, 2*time.Second) }

// Past describes what a replica was before.
type Past struct {
	// Led reports that it was a primary, or followed another primary, since it started (INFO, second_repl_offset). A full
	// copy of the primary's data resets Led.
	Led bool
	// Uptime is how long the replica has run, and Following how long it has followed its primary, in whole seconds.
	Uptime, Following time.Duration
}

// Recent reports whether the replica may have been elected less than a pause ago. A replica that ran for long before it
// followed its primary may have been a primary, and have received a full copy since.
func (p Past) Recent(pause time.Duration) bool {
	return p.Following < pause && (p.Led || p.Uptime-p.Following >= pause)
}

// Following returns how long a replica has followed its primary, in whole seconds, from the output of CLIENT LIST TYPE
// master; 0 if it is not connected. The time continues to count when a lost link is restored.
func Following(list string) time.Duration {
	for field := range strings.FieldsSeq(list) {
		if age, is := strings.CutPrefix(field, "age="); is {
			seconds, _ := strconv.ParseInt(age, 10, 64) // it is a number
			return Seconds(seconds)
		}
	}
	return 0
}

// mostSeconds is a hundred years: a server may report any number.
const mostSeconds = 100 * 366 * 24 * 60 * 60

// Seconds is a time that a server reports, within what a Duration can hold.
func Seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), mostSeconds)) * time.Second
}

// freeSince is the first version of Valkey that begins an election whenever it is asked to
// (https://github.com/valkey-io/valkey/pull/1274). Seen with 8.1.1 and 9.1.2.
func freeSince() []int { return []int{8, 1} }

// Free reports whether a replica with this version in INFO can be elected again without a pause.
func Free(version string, valkey bool) bool {
	var numbers []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	return valkey && slices.Compare(numbers, freeSince()) >= 0
}
