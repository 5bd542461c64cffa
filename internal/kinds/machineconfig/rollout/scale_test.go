// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// outdated returns a cluster of which a tenth may be updated at once, and which has none that is.
func outdated(nodes int) rollout.Cluster {
	c := rollout.Cluster{Now: now, Pools: []*rollout.Pool{pool("worker", most("10%"))}}
	for i := range nodes {
		c.Nodes = append(c.Nodes, node(fmt.Sprintf("n%05d", i)))
	}
	return c
}

func ordersOf(d rollout.Decision) int {
	orders := 0
	for _, v := range d.Nodes {
		if v.Action == rollout.Order {
			orders++
		}
	}
	return orders
}

// fastest returns the shortest of two times of a decision: the one that is known, and that of another run.
func fastest(known time.Duration, c rollout.Cluster) time.Duration {
	begin := time.Now()
	rollout.Next(c)
	return min(known, time.Since(begin))
}

// A pool may have thousands of nodes, and each event of one of them leads to a decision. If all nodes were counted again
// for each order, four times the nodes would take sixteen times as long. Other load only delays runs, so the fastest of
// many counts.
func TestADecisionAboutFourTimesTheNodesTakesAboutFourTimesAsLong(t *testing.T) {
	const nodes, runs, most = 2000, 50, 9
	few, many := outdated(nodes), outdated(4*nodes)
	if got := ordersOf(rollout.Next(many)); got != 4*nodes/10 {
		t.Errorf("expected orders for a tenth of %d nodes, got %d", 4*nodes, got)
	}
	short, long := time.Hour, time.Hour
	for range runs {
		if short, long = fastest(short, few), fastest(long, many); long < most*short {
			return
		}
	}
	t.Errorf("expected %d nodes to take less than %d times as long as %d, got %s and %s", 4*nodes, most, nodes, long, short)
}
