// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAPoolCostsOneWriteANode(t *testing.T) {
	names := makeFleet(t)
	tb := newTable("NodePool: %d nodes of 50 images, %d pools", *nodes, *pools)
	least := bareNodes(t, names)
	for _, d := range drivers() {
		run := &poolRun{process: d.start(t, "nodepool"), t: t, tb: tb, names: names}
		run.drive()
		if d.gated() {
			// After opcrew, measure the bare client (the baseline without an operator) a second time. The shorter of
			// its two times is the lower limit for operators.
			least = least.faster(bareNodes(t, names))
		}
		run.times(least)
	}
	tb.time(joinTime, bare, least.join.took, least.join.took)
	tb.time(changeTime, bare, least.change.took, least.change.took)
	tb.set(joinWrites, bare, "1.00, %d others", least.join.writes-len(names))
	tb.set(changeWrites, bare, "1.00, %d others", least.change.writes-len(names))
	tb.print()
}

// Rows of the table that also have a value for the client that makes only the necessary writes.
const (
	joinTime     = "nodes join: time, ratio"
	joinWrites   = "nodes join: writes a node; processor time"
	changeTime   = "label changes: time, ratio"
	changeWrites = "label changes: writes a node; processor time"
)

// poolRun runs a measured operator with the nodes of all NodePools.
type poolRun struct {
	*process
	t            *testing.T
	tb           *table
	names        []string
	join, change spell
}

// spell describes a change of many objects: how long it took, how many objects it has reached, and whether it reached
// all of them in time.
type spell struct {
	took time.Duration
	done int
	ok   bool
}

func (r *poolRun) drive() {
	r.calm(r.t, time.Second)
	ready, begun := poolsReady(r.t), &beginnings{}
	r.join = r.everyNode("gold", joinTime, joinWrites, func() { createPools(r.t, begun) })
	ready.done(*pools)
	ready.stop()
	r.tb.set("create to Ready: p50, p99", r.name, "%s", ready.since(begun.at))
	r.change = r.everyNode("silver", changeTime, changeWrites, func() { changePools(r.t) })
	r.resting(r.t, r.tb, "a heartbeat of every node", true, func() { env.Heartbeat(r.t, r.names...) })
	r.resting(r.t, r.tb, "other statuses of every node change", true, func() { nodeNoise(r.t, r.names) })
	r.drift()
	heap := r.heap(r.t)
	now, peak := r.resident(r.t)
	r.tb.set("heap; resident, at most", r.name, "%.0f MiB; %.0f MiB, %.0f MiB", heap, now, peak)
	r.restarted(r.t, r.tb)
	r.everyNode("", "pools go: time", "pools go: writes a node; processor time", func() { deletePools(r.t) })
	r.stop(r.t)
	clearFleet(r.t)
}

// everyNode makes a change that affects every node. It waits until all nodes have the value and the measured operator
// makes no more requests. It fills two rows of the table with the counts and the duration.
func (r *poolRun) everyNode(value, timeRow, writesRow string, change func()) spell {
	r.t.Helper()
	var s spell
	nodes := carrying(r.t, value)
	defer nodes.stop()
	r.tb.set(timeRow, r.name, "")
	got := r.during(r.t, func() {
		begin := time.Now()
		change()
		var end time.Time
		end, s.ok = nodes.done(len(r.names))
		s.took = end.Sub(begin)
		r.calm(r.t, 2*time.Second)
	})
	_, s.done = nodes.count()
	patches := len(got.calls.Writes().On("nodes"))
	r.tb.set(writesRow, r.name, "%.2f, %d others; %.1f s", float64(patches)/float64(len(r.names)), got.writes()-patches, got.cpu.Seconds())
	r.tb.set(timeRow, r.name, "%.1f s", s.took.Seconds())
	if r.gated() && (!s.ok || patches != len(r.names)) {
		r.t.Errorf("%s: expected one write for each of %d nodes, got %d; %d nodes are done: %v", timeRow, len(r.names), patches, s.done, got.calls.Tally())
	}
	r.t.Logf("%s, %s: %.1f s, %d nodes, %v", r.name, timeRow, s.took.Seconds(), s.done, got.calls.Tally())
	return s
}

// times fills the rows that compare a time with that of the client that makes only the necessary writes.
func (r *poolRun) times(least nodeFloor) {
	for _, c := range []struct {
		row   string
		spell spell
		floor floor
	}{{joinTime, r.join, least.join}, {changeTime, r.change, least.change}} {
		if c.spell.ok {
			r.tb.time(c.row, r.name, c.spell.took, c.floor.took)
			continue
		}
		r.tb.set(c.row, r.name, "not done after %s: %d of %d nodes", *limit, c.spell.done, len(r.names))
	}
}

// drift changes the label of some nodes as another client would.
func (r *poolRun) drift() {
	k := min(*drifts, len(r.names))
	gone := map[string]bool{}
	back := observe(r.t, nodeMetadata(), func(node client.Object) bool {
		value := node.GetLabels()[tier]
		gone[node.GetName()] = gone[node.GetName()] || value == "drifted"
		return gone[node.GetName()] && value == "silver"
	}).saw(r.t, *nodes)
	defer back.stop()
	begun := &beginnings{}
	got := r.during(r.t, func() {
		concurrently(r.t, k, func(ctx context.Context, i int) error {
			node := &corev1.Node{}
			node.Name = r.names[i]
			begun.now(node.Name)
			return env.Client.Patch(ctx, node, mergePatch(`{"metadata":{"labels":{%q:"drifted"}}}`, tier))
		})
		back.done(k)
		r.calm(r.t, 2*time.Second)
	})
	patches := len(got.calls.Writes().On("nodes"))
	r.tb.set("labels of some nodes drift: writes; p50, p99 until back", r.name, "%d for %d; %s", patches, k, back.since(begun.at))
	if r.gated() && patches != k {
		r.t.Errorf("expected %d labels to be put back with one write each, got %v", k, got.calls.Tally())
	}
}
