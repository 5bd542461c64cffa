// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"time"
)

// History is what this process remembers about work on a cluster's data. Nothing unsafe happens if it is lost: a
// restarted process only compares, compacts or defragments once more than needed.
type History struct {
	// Cluster is etcd's cluster ID, in hexadecimal.
	Cluster string
	// Compaction is the last compaction. Compacted is its revision.
	Compaction Attempt
	Compacted  int64
	// Defragmented is the last defragmentation of each member, by member ID.
	Defragmented map[uint64]Attempt
	// Compared is the last comparison of the members' data; nil if there was none.
	Compared *Comparison
}

// Attempt is a compaction or a defragmentation that has ended.
type Attempt struct {
	At time.Time
	// Failed explains why the attempt failed; "" if it succeeded.
	Failed string
	// Size and InUse are the sizes of the member's data afterwards, in bytes. Took is how long the member did not
	// answer.
	Size, InUse int64
	Took        time.Duration
}
