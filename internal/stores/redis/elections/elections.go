// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package elections is how soon a replica of Redis or Valkey can be elected again, for the operator and for the hook of a
// pod. Who is to be elected is not decided here.
package elections

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pause is for how long after its last election a replica begins no other, whether it won or lost that: 4 node timeouts,
// and 4 seconds at least (cluster.c, clusterHandleSlaveFailover, auth_retry_time). Asked before (CLUSTER FAILOVER), it only
// has its primary serve no one for 5 seconds (CLUSTER_MF_TIMEOUT); and one that won, and was replaced since, counts the
// votes of that time once more for half as long: it leads beside its primary, until others tell it of the newer epoch, and
// what it is given meanwhile is lost. Seen with Redis 7.0.15 and 8.0.2.
func Pause(nodeTimeout time.Duration) time.Duration { return 2 * max(2*nodeTimeout, 2*time.Second) }

// Past is what a replica was.
type Past struct {
	// Led reports that it has led, or followed another, since it was started (INFO, second_repl_offset): a full copy has it
	// forget that.
	Led bool
	// Uptime is for how long it has run, and Following for how long it has followed its primary, in whole seconds.
	Uptime, Following time.Duration
}

// Recent reports whether it may have been elected less than a pause ago: one that has run for long before it followed may have
// led, and have got a full copy since.
func (p Past) Recent(pause time.Duration) bool {
	return p.Following < pause && (p.Led || p.Uptime-p.Following >= pause)
}

// Following is for how long a replica has followed its primary, in whole seconds, by what it reports that as a client (CLIENT
// LIST TYPE master): 0 where it is not connected. A link that was lost and found again counts on.
func Following(list string) time.Duration {
	for field := range strings.FieldsSeq(list) {
		if age, is := strings.CutPrefix(field, "age="); is {
			seconds, _ := strconv.Atoi(age) // it is a number
			return time.Duration(seconds) * time.Second
		}
	}
	return 0
}

// freeSince is the first version of Valkey that begins another election whenever it is asked to
// (https://github.com/valkey-io/valkey/pull/1274). Seen with 8.1.1 and 9.1.2.
func freeSince() []int { return []int{8, 1} }

// Free reports whether a replica that has been elected can be elected again without a pause, by the version that INFO tells.
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
