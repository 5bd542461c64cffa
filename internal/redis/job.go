// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"slices"
	"strconv"
	"strings"
)

// Job is a move of slots that the servers carry out by themselves, all keys of the slots at once or none: Valkey has jobs since
// 9.0 (https://valkey.io/topics/atomic-slot-migration). Clients see no slot half moved, and one that fails leaves
// nothing behind. It goes on when whoever began it is gone, and while it does the servers refuse to move its slots otherwise.
//
// None is ever called off: a source that is told so in the moment in which the other end takes over serves slots that are
// another's by then, and loses what it is given.
type Job struct {
	// Name is what servers call it.
	Name string
	// Import tells that a process is the end that gets the slots.
	Import bool
	Slots  Slots
	// To is the ID of the process that gets them.
	To string
	// State is what it is at, in the words of the servers, and Message why it has ended.
	State, Message string
}

// jobsSince is the first version of Valkey whose jobs are to be relied on. In earlier ones of 9 they failed under writes with
// I/O threads (https://github.com/valkey-io/valkey/issues/4545), and could hang with TLS or end the server.
func jobsSince() []int { return []int{9, 1, 2} }

// HasJobs tells whether processes of a version move slots by themselves.
func (v Version) HasJobs() bool {
	var numbers []int
	for part := range strings.SplitSeq(v.Number, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	return v.Valkey && slices.Compare(numbers, jobsSince()) >= 0
}

// Ended tells whether nothing of it goes on any more.
func (j Job) Ended() bool {
	return j.State == "success" || j.State == "failed" || j.State == "cancelled"
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
