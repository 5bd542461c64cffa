// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// The slot migrations of Redis are simulated according to its source code (cluster_asm.c) and its documentation
// (https://redis.io/commands/cluster-migration). They have not been compared with a real server.

// task is a slot migration of Redis. The server that receives the slots executes it, and retries it until it is
// cancelled.
type task struct {
	name, from, state, message string
	slots                      set
	looks                      int
}

func (t *task) ended() bool { return t.state == "completed" || t.state == "canceled" }

// migration implements CLUSTER MIGRATION.
func (n console) migration(args []string) (any, error) {
	switch {
	case n.Version.Valkey || !n.Version.HasJobs():
		return nil, refuse("ERR unknown subcommand 'MIGRATION'. Try CLUSTER HELP.")
	case args[0] == "IMPORT":
		return n.importSlots(args[1:])
	case args[0] == "STATUS":
		return n.taskStatus(args[1:])
	}
	return n.cancelTask(args[2])
}

// importSlots starts a task. A server takes part in at most one task, and in none while slots are being moved by other
// means.
func (n console) importSlots(args []string) (any, error) {
	t := &task{state: "accumulate-buffer"}
	for pair := range slices.Chunk(args, 2) {
		for slot := number(pair[0]); slot <= number(pair[1]); slot++ {
			t.slots.add(slot)
		}
	}
	for _, slot := range t.slots.all() {
		owner := n.owner(slot)
		if t.from != "" && owner != t.from || owner == "" {
			return nil, refuse("ERR slots belong to different source nodes")
		}
		t.from = owner
	}
	switch {
	case n.primary != "":
		return nil, refuse("ERR slot migration not allowed on replica.")
	case t.from == n.id:
		return nil, refuse("ERR this node is already the owner of the slot range")
	case len(n.migrating)+len(n.importing) > 0:
		return nil, refuse("ERR all slot states must be STABLE to start a slot migration task.")
	case busy(n.node):
		return nil, refuse("ERR another ASM task is already in progress")
	}
	n.world.made++
	t.name = fmt.Sprint("task-", n.world.made)
	n.tasks = append([]*task{t}, n.tasks...)
	return t.name, nil
}

// busy reports whether a server takes part in a running task.
func busy(n *node) bool {
	for _, other := range n.world.of(n.Cluster) {
		for _, t := range other.tasks {
			if !t.ended() && (other == n || t.from == n.id) {
				return true
			}
		}
	}
	return false
}

// hasTaskOf reports whether a running task moves the slot from or to a server.
func hasTaskOf(n *node, slot int) bool {
	for _, other := range n.world.of(n.Cluster) {
		for _, t := range other.tasks {
			if !t.ended() && (other == n || t.from == n.id) && t.slots.has(slot) {
				return true
			}
		}
	}
	return false
}

func (n console) taskStatus(args []string) (any, error) {
	out := []any{}
	for _, t := range n.tasks {
		if args[0] == "ID" && args[1] != t.name {
			continue
		}
		workOn(n.node, t)
		var ranges []string
		for _, r := range t.slots.ranges() {
			ranges = append(ranges, fmt.Sprintf("%d-%d", r.First, r.Last))
		}
		out = append(out, []any{
			"id", t.name, "slots", strings.Join(ranges, " "), "source", t.from, "dest", n.id, "operation", "import",
			"state", t.state, "last_error", t.message, "retries", int64(0),
		})
	}
	return out, nil
}

func (n console) cancelTask(name string) (any, error) {
	for _, t := range n.tasks {
		if t.name == name && !t.ended() {
			t.state = "canceled"
			return int64(1), nil
		}
	}
	return int64(0), nil
}

// workOn continues a task in the same way as work continues a job. A failed task starts again.
func workOn(n *node, t *task) {
	if t.looks++; t.ended() || t.looks < n.world.JobLooks {
		return
	}
	t.looks = 0
	var from *node
	if p := n.peers[t.from]; p != nil {
		from = n.reach(p)
	}
	if from == nil || n.primary != "" || from.primary != "" || !from.Version.HasJobs() || t.slots.both(from.slots) != t.slots {
		t.state, t.message = failed, "Main channel - Failed to sync with source node"
		return
	}
	handOver(from, t.slots, n)
	t.state = "completed"
}

// taskEnds returns the running tasks that a server takes part in.
func taskEnds(n *node) []redis.Job {
	var out []redis.Job
	for _, other := range n.world.of(n.Cluster) {
		for _, t := range other.tasks {
			if other == n && !t.ended() {
				workOn(n, t)
			}
			if goesOn := !t.ended() && (other == n || t.state != failed); goesOn && n.primary == "" && (other == n || t.from == n.id) {
				out = append(out, redis.Job{
					Name: t.name, Import: other == n, Slots: t.slots.ranges(), To: other.id, State: t.state, Message: t.message,
					Retried: other == n && t.state == failed,
				})
			}
		}
	}
	return out
}
