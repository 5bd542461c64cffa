// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// failed is the state of a slot migration that ended without moving any slot.
const failed = "failed"

// job is a slot migration of Valkey. The server that owns the slots executes it.
type job struct {
	name, to, state, message string
	slots                    set
	looks                    int
}

func (j *job) ended() bool { return j.state == "success" || j.state == failed }

// migrateSlots implements CLUSTER MIGRATESLOTS SLOTSRANGE <first> <last> ... NODE <id>.
func (n console) migrateSlots(args []string) (any, error) {
	last := len(args) - 2
	if !n.Version.Valkey || !n.Version.HasJobs() {
		return nil, refuse("ERR unknown subcommand 'MIGRATESLOTS'. Try CLUSTER HELP.")
	}
	j := &job{to: args[last+1], state: "snapshotting"}
	for pair := range slices.Chunk(args[1:last], 2) {
		for slot := number(pair[0]); slot <= number(pair[1]); slot++ {
			j.slots.add(slot)
		}
	}
	to := n.peers[j.to]
	switch theirs := j.slots.both(n.slots); {
	case n.primary != "":
		return nil, refuse("ERR CLUSTER MIGRATESLOTS can only be used on primaries.")
	case to == nil || to.primary != "":
		return nil, refuse("ERR Unknown node %s", j.to)
	case theirs != j.slots:
		return nil, refuse("ERR Slots are not served by this node.")
	case len(n.migrating)+len(n.importing) > 0:
		return nil, refuse("ERR Slots are being manually migrated.")
	}
	for _, other := range n.jobs {
		if both := other.slots.both(j.slots); !other.ended() && !both.empty() {
			return nil, refuse("ERR I am already migrating slots of these.")
		}
	}
	n.world.made++
	j.name = fmt.Sprint("job-", n.world.made)
	n.jobs = append([]*job{j}, n.jobs...)
	return "OK", nil
}

// getSlotMigrations implements CLUSTER GETSLOTMIGRATIONS.
func (n console) getSlotMigrations([]string) (any, error) {
	if !n.Version.Valkey || !n.Version.HasJobs() {
		return nil, refuse("ERR unknown subcommand 'GETSLOTMIGRATIONS'. Try CLUSTER HELP.")
	}
	out := []any{}
	for _, j := range n.jobs {
		work(n.node, j)
		var ranges []string
		for _, r := range j.slots.ranges() {
			ranges = append(ranges, fmt.Sprintf("%d-%d", r.First, r.Last))
		}
		out = append(out, []any{
			"name", j.name, "operation", "EXPORT", "slot_ranges", strings.Join(ranges, " "), "target_node", j.to, "state", j.state, "message", j.message,
		})
	}
	return out, nil
}

// Jobs returns how many slot migrations the running servers of a cluster have had.
func (w *World) Jobs(cluster string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, p := range w.of(cluster) {
		n += len(p.jobs) + len(p.tasks)
	}
	return n
}

// work continues a job. The job is done after enough reads, and fails if its source or destination has changed.
func work(n *node, j *job) {
	if j.looks++; j.ended() || j.looks < n.world.JobLooks {
		return
	}
	var to *node
	if p := n.peers[j.to]; p != nil {
		to = n.reach(p)
	}
	if owned := j.slots.both(n.slots); n.primary != "" || to == nil || to.primary != "" || !to.Version.HasJobs() || owned != j.slots {
		j.state, j.message = failed, "one of the ends is not what it was"
		return
	}
	handOver(n, j.slots, to)
	j.state = "success"
}

// handOver moves slots with their keys to another server.
func handOver(n *node, given set, to *node) {
	for _, slot := range given.all() {
		for _, key := range n.keysIn(slot) {
			to.set(key, n.data[key])
			n.drop(key)
		}
		for _, end := range []*node{to, n} {
			if _, err := end.assign(slot, to.id); err != nil {
				n.world.violated(n.Cluster, "slot %d was to go by a job: %v", slot, err)
			}
		}
	}
	to.outbid()
}

func hasJobOf(n *node, slot int) bool {
	return slices.ContainsFunc(n.jobs, func(j *job) bool { return !j.ended() && j.slots.has(slot) }) || hasTaskOf(n, slot)
}

// ends returns the running slot migrations from or to a server.
func ends(n *node) []redis.Job {
	out := taskEnds(n)
	for _, other := range n.world.of(n.Cluster) {
		for _, j := range other.jobs {
			if other == n && !j.ended() {
				work(n, j) // a real job also continues when its state is not read
			}
			if !j.ended() && n.primary == "" && (other == n || j.to == n.id) {
				out = append(out, redis.Job{Name: j.name, Import: other != n, Slots: j.slots.ranges(), To: j.to, State: j.state})
			}
		}
	}
	return out
}

// info implements INFO replication.
func (n console) info([]string) (any, error) {
	if n.primary != "" {
		return "run_id:" + n.run + "\r\nrole:slave\r\n", nil
	}
	lines := []string{"run_id:" + n.run, "role:master"}
	for i, replica := range n.followers() {
		lines = append(lines, fmt.Sprintf("slave%d:ip=,port=0,state=online,offset=%d,lag=0", i, replica.offset))
	}
	return strings.Join(append(lines, fmt.Sprintf("master_repl_offset:%d", n.offset), ""), "\r\n"), nil
}
