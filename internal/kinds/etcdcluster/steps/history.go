// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"time"
)

// History holds what the process remembers about the upkeep of a cluster. No safety depends on it: a restarted process
// only compares, compacts or defragments once more than needed.
type History struct {
	// Cluster is the id of the cluster, in hexadecimal.
	Cluster string
	// Compaction is the last compaction; Compacted is its revision.
	Compaction Attempt
	Compacted  int64
	// Defragmented has the last defragmentation of each member, by member id.
	Defragmented map[uint64]Attempt
	// Compared is the last comparison of the members; nil if there was none.
	Compared *Comparison
}

// Attempt is a compaction or a defragmentation that has ended.
type Attempt struct {
	At time.Time
	// Failed explains why the attempt failed; "" if it succeeded.
	Failed string
	// Size and InUse are the sizes of the member's data afterwards. Took is how long the member did not answer.
	Size, InUse int64
	Took        time.Duration
}
