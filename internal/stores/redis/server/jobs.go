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

// Job is a move of slots that the servers execute on their own. It moves all keys of the slots, or none. Valkey has
// jobs since 9.0 (https://valkey.io/topics/atomic-slot-migration), Redis since 8.4
// (https://redis.io/commands/cluster-migration). A job continues when the client that started it ends.
//
// opcrew never cancels jobs of Valkey: see docs/design/redis.md. It cancels jobs of Redis that fail, because the
// servers would retry them forever.
type Job struct {
	// Name is the job's name, which the servers chose.
	Name string
	// Import reports that this server receives the slots.
	Import bool
	Slots  Slots
	// To is the ID of the server that receives the slots.
	To string
	// State is the job's state as the servers report it. Message is the reason for its end or for its last failure.
	State, Message string
	// Retried reports that the job has failed and is retried until it is cancelled.
	Retried bool
}

// HasJobs reports whether servers of this version have reliable slot migration jobs. In earlier versions of Valkey 9,
// jobs failed under writes with I/O threads (https://github.com/valkey-io/valkey/issues/4545), hung with TLS, or
// crashed servers.
func (v Version) HasJobs() bool {
	if v.Valkey {
		return v.since(9, 1, 2)
	}
	return v.since(8, 4)
}

// AwaitsReplicas reports whether servers of this version answer CLUSTER SETSLOT only after their replicas have executed
// it.
func (v Version) AwaitsReplicas() bool { return v.Valkey && v.since(8) }

// since reports whether a version is at least the given one.
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

// mostJobs is the maximum number of jobs that are read from a server. Servers remember a thousand by default, the
// latest first.
const mostJobs = 4096

// listed returns the elements of an answer that lists jobs.
func listed(answer any) ([]any, error) {
	lines, _ := answer.([]any)
	if len(lines) > mostJobs {
		return nil, fmt.Errorf("the server lists %d jobs, and opcrew reads at most %d", len(lines), mostJobs)
	}
	return lines, nil
}

// ParseJobs parses the answer to CLUSTER GETSLOTMIGRATIONS. The latest job is first.
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

// pairs converts a list of alternating names and values to a map.
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

// underWay returns the jobs that have not ended.
func underWay(jobs []Job) []Job {
	var out []Job
	for _, job := range jobs {
		if !job.Ended() {
			out = append(out, job)
		}
	}
	return out
}

// ParseTasks parses the answer to CLUSTER MIGRATION STATUS.
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
		// Redis retries a failed import. opcrew cancels the job, because the source may wait forever for the next
		// attempt.
		job.Retried = job.Import && job.State == "failed"
		out = append(out, job)
	}
	return out, nil
}
