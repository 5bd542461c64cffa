// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

// Job is a move of slots that the servers carry out by themselves, with all keys or none: Valkey since 9.0
// (https://valkey.io/topics/atomic-slot-migration), Redis since 8.4 (https://redis.io/commands/cluster-migration). A job
// outlives the client that began it.
//
// Jobs of Valkey are never cancelled: see docs/design/redis.md. Jobs of Redis are cancelled when they fail, as the servers
// would retry them for ever.
type Job struct {
	// Name is the name that the servers gave it.
	Name string
	// Import reports that the process gets the slots.
	Import bool
	Slots  Slots
	// To is the ID of the process that gets the slots.
	To string
	// State is the state as the servers report it, and Message the reason why it ended, or of its last failure.
	State, Message string
	// Retried reports that it has failed and is retried until it is cancelled.
	Retried bool
}

// HasJobs reports whether processes of a version have jobs that work reliably. In earlier versions of Valkey 9 jobs failed
// under writes with I/O threads (https://github.com/valkey-io/valkey/issues/4545), and could hang with TLS or end the server.
func (v Version) HasJobs() bool {
	if v.Valkey {
		return v.since(9, 1, 2)
	}
	return v.since(8, 4)
}

// AwaitsReplicas reports whether processes of a version answer CLUSTER SETSLOT only when their replicas have it.
func (v Version) AwaitsReplicas() bool { return v.Valkey && v.since(8) }

// since reports whether a version is at least another.
func (v Version) since(first ...int) bool {
	var numbers []int
	for part := range strings.SplitSeq(v.Number, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	return slices.Compare(numbers, first) >= 0
}

// Ended reports whether the job is over.
func (j Job) Ended() bool {
	switch j.State {
	case "success", "cancelled", "completed", "canceled":
		return true
	}
	return j.State == "failed" && !j.Retried
}

// mostJobs is how many jobs are read. Servers remember a thousand by default, the last one first.
const mostJobs = 4096

// listed are the elements of an answer that is a list of jobs.
func listed(answer any) ([]any, error) {
	lines, _ := answer.([]any)
	if len(lines) > mostJobs {
		return nil, fmt.Errorf("the server lists %d jobs, and opcrew reads at most %d", len(lines), mostJobs)
	}
	return lines, nil
}

// ParseJobs reads CLUSTER GETSLOTMIGRATIONS, the last job first.
func ParseJobs(answer any) ([]Job, error) {
	lines, err := listed(answer)
	if err != nil {
		return nil, err
	}
	var out []Job
	for _, line := range lines {
		job := pairs(line)
		slots, err := ParseSlots(strings.ReplaceAll(job["slot_ranges"], " ", ","))
		if err != nil {
			return nil, err
		}
		out = append(out, Job{
			Name: word(job["name"]), Import: job["operation"] == "IMPORT", Slots: slots, To: word(job["target_node"]),
			State: word(job["state"]), Message: plain.Line(job["message"], mostRefusal),
		})
	}
	return out, nil
}

// pairs reads a list of names and values.
func pairs(answer any) map[string]string {
	words, _ := answer.([]any)
	out := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		if key := Text(words[i]); len(key) <= mostWord {
			out[key] = Text(words[i+1])
		}
	}
	return out
}

// underWay are the jobs that have not ended.
func underWay(jobs []Job) []Job {
	var out []Job
	for _, job := range jobs {
		if !job.Ended() {
			out = append(out, job)
		}
	}
	return out
}

// ParseTasks reads CLUSTER MIGRATION STATUS.
func ParseTasks(answer any) ([]Job, error) {
	lines, err := listed(answer)
	if err != nil {
		return nil, err
	}
	var out []Job
	for _, line := range lines {
		task := pairs(line)
		slots, err := ParseSlots(strings.ReplaceAll(task["slots"], " ", ","))
		if err != nil {
			return nil, err
		}
		job := Job{
			Name: word(task["id"]), Import: task["operation"] == "import", Slots: slots, To: word(task["dest"]),
			State: word(task["state"]), Message: plain.Line(task["last_error"], mostRefusal),
		}
		job.Retried = job.Import && job.State == "failed" // the other end may wait for a next attempt that never comes
		out = append(out, job)
	}
	return out, nil
}
