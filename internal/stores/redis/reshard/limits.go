// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"errors"
	"time"
)

// ErrNoJobs reports that the servers have no jobs, so that slots must be moved key by key.
var ErrNoJobs = errors.New("the servers do not support slot migration jobs")

const (
	// slotsTogether is how many slots are opened at a time. The servers then sync their disks once for all of them.
	slotsTogether = 4096
	// bytesTogether limits how many bytes of slots are opened at a time: a move that is stopped still completes its open
	// slots.
	bytesTogether = 32 << 20
	// closedTogether is how many slots are checked to be empty, and then given away, at a time. Little can change in
	// between. It also limits how many commands are in flight to a process.
	closedTogether = 1024
	// batchTimeout is the timeout of one command of a move. Servers give up a MIGRATE earlier.
	batchTimeout = 12 * time.Second
	// closing limits how long a stopped move may take to complete its open slots. Left half moved, they would block what
	// the move was stopped for, such as a failover: a Redis 7 replica that becomes primary does not know which slots are
	// open.
	closing = 10 * time.Second
)

const (
	// bytesPerJob limits the size of a job: a stop waits for the job, a failed job starts over, and the servers keep new
	// writes in memory while it runs.
	bytesPerJob = 64 << 20
	// jobPoll is how long to wait between two reads of a job.
	jobPoll = 50 * time.Millisecond
	// mostBehind is how many bytes the replica of the receiving end may lack before a job sends more. shelterPatience is
	// how long a move waits for the replica.
	mostBehind      = 1 << 20
	shelterPatience = 30 * time.Second
	// mostBehindByKeys is the same limit for moves by keys. Replicas report their offset only once a second
	// (replication.c, replicationCron), so that a lower limit would limit the rate.
	mostBehindByKeys = bytesPerJob
)
