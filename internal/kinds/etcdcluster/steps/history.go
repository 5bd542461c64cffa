// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"time"
)

// History is what the process remembers of the upkeep of a cluster. No safety depends on it: a process that has
// forgotten compares, compacts or defragments once more than needed.
type History struct {
	// Cluster is the id of the cluster, in hexadecimal.
	Cluster string
	// Compaction is the last one, and Compacted is its revision.
	Compaction Attempt
	Compacted  int64
	// Defragmented is the last defragmentation of each member, by its id.
	Defragmented map[uint64]Attempt
	// Compared is the last comparison of the members; nil: there was none.
	Compared *Comparison
}

// Attempt is a compaction or a defragmentation that has ended.
type Attempt struct {
	At time.Time
	// Failed is why it did not succeed.
	Failed string
	// Size and InUse are the sizes of the member's data afterwards. Took is how long the member did not answer.
	Size, InUse int64
	Took        time.Duration
}
