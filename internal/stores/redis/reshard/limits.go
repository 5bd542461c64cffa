// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"errors"
	"time"
)

// ErrNoJobs reports that servers have no jobs: slots must be moved key by key.
var ErrNoJobs = errors.New("the servers do not move slots by themselves")

const (
	// slotsTogether are opened at a time: the servers then sync their disks once for all of them.
	slotsTogether = 4096
	// bytesTogether bounds them too: a move that is stopped still completes the slots that are open.
	bytesTogether = 32 << 20
	// closedTogether are checked to be empty, and then given away, at a time: little can change in between. It also bounds the
	// commands in flight to a process.
	closedTogether = 1024
	// batchTimeout is for one command of a move. Servers give up a MIGRATE earlier.
	batchTimeout = 12 * time.Second
	// closing is how long a move that is stopped may take to complete open slots. Half moved slots would block the reason for
	// the stop: a replica of Redis 7 that takes the lead does not know that they are open.
	closing = 10 * time.Second
)

const (
	// bytesPerJob bounds a job: a stop waits for it, a failed job starts again, and the servers keep new writes in memory
	// meanwhile.
	bytesPerJob = 64 << 20
	// jobPoll is the time between two looks at a job.
	jobPoll = 50 * time.Millisecond
	// mostBehind is how many bytes the replica of the receiving end may lack before a job sends more, and shelterPatience how
	// long a move waits for it.
	mostBehind      = 1 << 20
	shelterPatience = 30 * time.Second
	// mostBehindByKeys is the same for moves by keys. Replicas report their offset once a second (replication.c,
	// replicationCron), so that a smaller bound would limit the rate.
	mostBehindByKeys = bytesPerJob
)
