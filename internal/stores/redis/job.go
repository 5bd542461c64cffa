// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"slices"
	"strconv"
	"strings"
)

// Job is a move of slots that the servers carry out by themselves, all keys of the slots at once or none: Valkey has jobs since
// 9.0 (https://valkey.io/topics/atomic-slot-migration), Redis since 8.4 (https://redis.io/commands/cluster-migration). Clients
// see no slot half moved, and one that fails leaves nothing behind. It goes on when anyone who began it is gone, and while it
// does the servers refuse to move its slots otherwise.
//
// None of Valkey is ever called off: a source that is told so in the moment in which the other end takes over serves slots
// that are another's by then, and loses what it is given. Of Redis the end that takes over is the one that is told, and it
// has to be: one that fails is tried again for ever.
type Job struct {
	// Name is what servers call it.
	Name string
	// Import reports that a process is the end that gets the slots.
	Import bool
	Slots  Slots
	// To is the ID of the process that gets them.
	To string
	// State is what it is at, in the words of the servers, and Message why it has ended, or failed last.
	State, Message string
	// Retried says that it has failed and is tried again until it is called off.
	Retried bool
}

// HasJobs reports whether processes of a version move slots by themselves, such that it is to be relied on. In earlier ones of
// Valkey 9 jobs failed under writes with I/O threads (https://github.com/valkey-io/valkey/issues/4545), and could hang with TLS
// or end the server.
func (v Version) HasJobs() bool {
	if v.Valkey {
		return v.since(9, 1, 2)
	}
	return v.since(8, 4)
}

// AwaitsReplicas reports whether processes of a version answer CLUSTER SETSLOT only when their replicas have it.
func (v Version) AwaitsReplicas() bool { return v.Valkey && v.since(8) }

// since reports whether a version is one or later.
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

// Ended reports whether nothing of it goes on any more.
func (j Job) Ended() bool {
	switch j.State {
	case "success", "cancelled", "completed", "canceled":
		return true
	}
	return j.State == "failed" && !j.Retried
}

// parseJobs reads what CLUSTER GETSLOTMIGRATIONS tells: the last one first.
func parseJobs(answer any) ([]Job, error) {
	lines, _ := answer.([]any)
	var out []Job
	for _, line := range lines {
		job := pairs(line)
		slots, err := ParseSlots(strings.ReplaceAll(job["slot_ranges"], " ", ","))
		if err != nil {
			return nil, err
		}
		out = append(out, Job{
			Name: job["name"], Import: job["operation"] == "IMPORT", Slots: slots, To: job["target_node"],
			State: job["state"], Message: job["message"],
		})
	}
	return out, nil
}

// pairs reads a list of names and values.
func pairs(answer any) map[string]string {
	words, _ := answer.([]any)
	out := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		out[text(words[i])] = text(words[i+1])
	}
	return out
}

// underWay are those that have not ended.
func underWay(jobs []Job) []Job {
	var out []Job
	for _, job := range jobs {
		if !job.Ended() {
			out = append(out, job)
		}
	}
	return out
}
