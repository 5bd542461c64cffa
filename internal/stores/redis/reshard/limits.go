// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"errors"
	"time"
)

// ErrNoJobs reports that the servers have no slot migration jobs, so that slots must be moved key by key.
var ErrNoJobs = errors.New("the servers do not support slot migration jobs")

const (
	// slotsTogether is how many slots are moved as one group. The servers then sync their disks once per group.
	slotsTogether = 4096
	// bytesTogether limits the bytes of slots that are moved as one group. A move that is stopped still completes its
	// current group.
	bytesTogether = 32 << 20
	// closedTogether is how many slots get their new owner together, right after a check that the source has no more
	// keys of them. The limit keeps the time between check and change short. It also limits the commands in flight to a
	// server.
	closedTogether = 1024
	// batchTimeout is the timeout of one command of a move. The servers themselves give up a MIGRATE earlier.
	batchTimeout = 12 * time.Second
	// closing limits how long a stopped move may take to complete its current slots. Half-moved slots would block what
	// the move was stopped for, such as a failover: a new primary of Redis 7 does not know which slots are being moved.
	closing = 10 * time.Second
)

const (
	// bytesPerJob limits the bytes that one job moves, because a stop must wait for the job, a failed job starts over,
	// and the servers keep new writes in memory while the job runs.
	bytesPerJob = 64 << 20
	// jobPoll is the time between two reads of a job's state.
	jobPoll = 50 * time.Millisecond
	// mostBehind is how many bytes the destination's replica may lack before another job starts. shelterPatience is how
	// long a move waits for that replica.
	mostBehind      = 1 << 20
	shelterPatience = 30 * time.Second
	// mostBehindByKeys replaces mostBehind when keys are moved one by one. Replicas report their offset only once per
	// second (replication.c, replicationCron), so a lower limit would slow the move down.
	mostBehindByKeys = bytesPerJob
)
