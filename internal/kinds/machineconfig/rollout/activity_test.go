// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

func TestNoUpdateBeginsWhereAnActivityWorks(t *testing.T) {
	other := node("z", has(target))
	check(t, []story{
		{"a node with an Activity waits", cluster(node("a", used), other), []string{"a waits: Activity"}},
		{"also one that a fleet has cordoned", cluster(node("a", used, foreign), other), []string{"a waits: Activity"}},
		{"also one that failed", cluster(pool("worker", renders(newer)), node("a", is(rollout.Failed), used), other), []string{"a waits: Activity", "z waits: BudgetUsed"}},
		{"also a new one", cluster(node("a", joining, used), other), []string{"a waits: Activity"}},
		{"it counts in the budget", cluster(node("a"), node("b", has(target), used), other), []string{"a waits: BudgetUsed"}},
		{"two may be unavailable", cluster(node("a"), node("b", has(target), used), other, pool("worker", most("2"))), []string{"a Order rendered-2"}},
		{"a control-plane node with an Activity counts as down", cluster(node("a", controlPlane), node("b", controlPlane, has(target), used), pool("worker", most("3"))), []string{"a waits: BudgetUsed"}},
		{"no drain begins under an Activity", cluster(node("a", is(rollout.WantsDrain), used), other), []string{"a waits: Activity"}},
		{"not even on the only node", cluster(node("a", is(rollout.WantsDrain), used)), []string{"a waits: Activity"}},
		{"a drain that has begun continues", cluster(node("a", is(rollout.WantsDrain), ours, used), other), []string{"a Evict"}},
		{"the machine agent is not interrupted", cluster(node("a", is(rollout.Working), used), other), []string{"a waits: Updating"}},
		{"a node with the configuration needs nothing", cluster(node("a", has(target), used), other), nil},
	})
}

func TestTheActivityIsNamed(t *testing.T) {
	d := rollout.Next(cluster(node("a", used), node("b")))
	if got := d.Nodes[0].Message; !strings.Contains(got, "Activity chores/upgrade works on it") {
		t.Errorf("expected the Activity of node a to be named, got %q", got)
	}
	if got := d.Nodes[1].Message; !strings.Contains(got, "a is used by Activity chores/upgrade") {
		t.Errorf("expected the Activity to be named as what uses the budget, got %q", got)
	}
}
