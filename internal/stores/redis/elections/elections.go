// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package elections computes how soon a replica of Redis or Valkey can be elected again. The operator and the pods'
// preStop hook use it. It does not decide which replica should be elected.
package elections

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pause returns the time after an election in which a replica does not start another one: 4 node timeouts, at least 4
// seconds (cluster.c, clusterHandleSlaveFailover, auth_retry_time). docs/design/redis.md describes what a failover
// request during this time does.
func Pause(nodeTimeout time.Duration) time.Duration { return 2 * max(2*nodeTimeout, 2*time.Second) }

// Past describes what a replica was before it followed its current primary.
type Past struct {
	// Led reports that the replica was a primary, or followed another primary, since it started (INFO,
	// second_repl_offset). A full copy of the primary's data resets this information.
	Led bool
	// Uptime is how long the replica has run. Following is how long it has followed its current primary. Both are in
	// whole seconds.
	Uptime, Following time.Duration
}

// Recent reports whether the replica may have been elected less than a pause ago. Led alone does not show that, because
// a full copy of the primary's data resets Led. So Recent is also true if the replica ran for at least a pause before
// it followed its current primary.
func (p Past) Recent(pause time.Duration) bool {
	return p.Following < pause && (p.Led || p.Uptime-p.Following >= pause)
}

// Following returns how long a replica has followed its primary, in whole seconds, from the output of CLIENT LIST TYPE
// master; 0 if it is not connected. A brief loss of the link does not reset the time.
func Following(list string) time.Duration {
	for field := range strings.FieldsSeq(list) {
		if age, is := strings.CutPrefix(field, "age="); is {
			seconds, _ := strconv.ParseInt(age, 10, 64) // all versions print a number
			return Seconds(seconds)
		}
	}
	return 0
}

// mostSeconds caps the durations that a server reports. The cap is a hundred years, because a faulty server may report
// any number.
const mostSeconds = 100 * 366 * 24 * 60 * 60

// Seconds converts a number of seconds that a server reports. It limits the number to what a Duration can hold.
func Seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), mostSeconds)) * time.Second
}

// freeSince returns the first version of Valkey that starts an election whenever it is requested
// (https://github.com/valkey-io/valkey/pull/1274). Tested with 8.1.1 and 9.1.2.
func freeSince() []int { return []int{8, 1} }

// Free reports whether a replica with this version can be elected again without a pause. version comes from INFO.
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
