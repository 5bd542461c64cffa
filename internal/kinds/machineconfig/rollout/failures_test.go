// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

func TestFailedNodesGetACorrectedConfigurationFirst(t *testing.T) {
	corrected := pool("worker", renders(newer))
	check(t, []story{
		{"a failed node waits for a correction", cluster(node("z", is(rollout.Failed), ours), node("a")), []string{"z waits: NodeFailed", "a waits: TooManyFailures"}},
		{"a refused configuration counts as a failure", cluster(node("z", is(rollout.Refused)), node("a")), []string{"z waits: NodeUnreconcilable", "a waits: TooManyFailures"}},
		{"a correction goes to the failed node, which already counts", cluster(corrected, node("z", is(rollout.Failed), ours, down), node("a")),
			[]string{"z Order rendered-3", "a waits: BudgetUsed"}},
		{"several failed nodes need no budget", cluster(corrected, node("y", is(rollout.Failed), ours), node("z", is(rollout.Refused)), node("a")),
			[]string{"y Order rendered-3", "z Order rendered-3", "a waits: BudgetUsed"}},
		{"the failed node may return to what it had", cluster(pool("worker", renders(before)), node("z", is(rollout.Failed), ours), node("a")), []string{"z Order rendered-1"}},
		{"a node that waits for a drain gets the correction", cluster(corrected, node("z", is(rollout.WantsDrain), ours), node("a")),
			[]string{"z Order rendered-3", "a waits: BudgetUsed"}},
		{"a node whose agent works is not disturbed", cluster(corrected, node("z", is(rollout.Working), ours), node("a")), []string{"z waits: Updating", "a waits: BudgetUsed"}},
		{"an order that no agent has seen is replaced", cluster(corrected, node("z", is(rollout.Ordered))), []string{"z Order rendered-3"}},
		{"more failures are allowed", cluster(pool("worker", maxFailures(2), most("3")), node("z", is(rollout.Failed), ours), node("a")), []string{"z waits: NodeFailed", "a Order rendered-2"}},
		{"a failed node uses the budget", cluster(pool("worker", maxFailures(2)), node("z", is(rollout.Failed), ours), node("a")), []string{"z waits: NodeFailed", "a waits: BudgetUsed"}},
		{"failures of another pool do not count", cluster(pool("worker"), pool("infra"), node("z", in("infra"), is(rollout.Failed)), node("a")), []string{"z waits: NodeFailed", "a Order rendered-2"}},
	})
}

func TestAnUpdateThatFailsIsRolledBack(t *testing.T) {
	rolled := pool("worker", rollsBack, func(p *rollout.Pool) { p.RolledBack = target })
	check(t, []story{
		{"the pool returns to its last configuration", cluster(pool("worker", rollsBack), node("z", is(rollout.Failed), ours), node("a")),
			[]string{"roll back worker from rendered-2 to rendered-1 because of z", "z waits: NodeFailed", "a waits: TooManyFailures"}},
		{"failed nodes first, then updated ones", cluster(rolled, node("z", is(rollout.Failed), ours), node("a"), node("b", has(target))),
			[]string{"z Order rendered-1", "b waits: BudgetUsed"}},
		{"updated nodes return within the budget", cluster(rolled, node("a"), node("b", has(target)), node("c", has(target))), []string{"b Order rendered-1", "c waits: BudgetUsed"}},
		{"a failure of the roll back stops", cluster(rolled, node("z", is(rollout.Failed), wants(before)), node("b", has(target))), []string{"z waits: NodeFailed", "b waits: TooManyFailures"}},
		{"another configuration ends the roll back", cluster(pool("worker", rollsBack, renders(newer), func(p *rollout.Pool) { p.RolledBack = target }), node("a")), []string{"a Order rendered-3"}},
		{"not without an earlier configuration", cluster(pool("worker", rollsBack, func(p *rollout.Pool) { p.Last = "" }), node("z", is(rollout.Failed))), []string{"z waits: NodeFailed"}},
		{"not in a paused pool", cluster(pool("worker", rollsBack, isPaused), node("z", is(rollout.Failed))), []string{"z waits: NodeFailed"}},
	})
}

func TestAnUpdatedNodeMustBecomeHealthyBeforeTheNextBegins(t *testing.T) {
	check(t, []story{
		{"healthy for long enough", cluster(pool("worker", soak(5*time.Minute)), node("b", has(target), applied(time.Hour, true, 6*time.Minute)), node("a")), []string{"a Order rendered-2"}},
		{"healthy, not for long enough", cluster(pool("worker", soak(5*time.Minute)), node("b", has(target), applied(time.Hour, true, 4*time.Minute)), node("a")),
			[]string{"a waits: BudgetUsed", "b waits: Soaking"}},
		{"updated, not for long enough", cluster(pool("worker", soak(5*time.Minute)), node("b", has(target), applied(time.Minute, true, time.Hour)), node("a")),
			[]string{"a waits: BudgetUsed", "b waits: Soaking"}},
		{"not healthy yet", cluster(node("b", has(target), applied(time.Minute, false, time.Hour)), node("a")), []string{"a waits: BudgetUsed", "b waits: Soaking"}},
		{"not healthy in time", cluster(node("b", has(target), applied(11*time.Minute, false, time.Hour)), node("a")), []string{"b waits: Unhealthy", "a waits: TooManyFailures"}},
		{"unhealthy long after the update", cluster(pool("worker", most("2")), node("b", has(target), applied(time.Hour, false, time.Minute)), node("a")), []string{"a Order rendered-2"}},
		{"an unhealthy node gets a correction first", cluster(pool("worker", renders(newer)), node("b", has(target), down, applied(11*time.Minute, false, 9*time.Minute)), node("a")),
			[]string{"b Order rendered-3", "a waits: BudgetUsed"}},
		{"unless a user has cordoned it", cluster(pool("worker", renders(newer)), node("b", foreign, has(target), down, applied(11*time.Minute, false, 9*time.Minute)), node("a")),
			[]string{"b waits: Cordoned", "a waits: BudgetUsed"}},
	})
}

func TestCanaryNodesAreUpdatedFirst(t *testing.T) {
	p := pool("worker", withCanary, most("3"))
	check(t, []story{
		{"only they begin", cluster(p, node("a"), node("z", isCanary)), []string{"z Order rendered-2", "a waits: Soaking"}},
		{"they must be healthy for a while", cluster(p, node("a"), node("z", isCanary, has(target), applied(4*time.Minute, true, 4*time.Minute))), []string{"z waits: Soaking", "a waits: Soaking"}},
		{"then the others follow", cluster(p, node("a"), node("z", isCanary, has(target), applied(time.Hour, true, 6*time.Minute))), []string{"a Order rendered-2"}},
		{"all canary nodes count", cluster(p, node("a"), node("y", isCanary), node("z", isCanary, has(target))), []string{"y Order rendered-2", "a waits: Soaking"}},
		{"a canary that fails stops the others", cluster(pool("worker", withCanary, most("3"), maxFailures(3)), node("a"), node("z", isCanary, has(target), applied(time.Hour, false, time.Hour))),
			[]string{"z waits: Unhealthy", "a waits: Soaking"}},
		{"no canary matches", cluster(p, node("a")), []string{"a waits: NoCanary"}},
		{"a canary that others cordoned blocks", cluster(p, node("a"), node("z", isCanary, foreign)), []string{"z waits: Cordoned", "a waits: Soaking"}},
	})
}

func TestNewNodesGetAConfigurationThatWorks(t *testing.T) {
	check(t, []story{
		{"the new one, once a node has it", cluster(node("a", joining), node("b", has(target))), []string{"a Order rendered-2 without a drain"}},
		{"the last one before", cluster(node("a", joining), node("b", is(rollout.Failed))), []string{"b waits: NodeFailed", "a Order rendered-1 without a drain"}},
		{"the new one, if there are no others", cluster(node("a", joining), node("b", joining)), []string{"a Order rendered-2 without a drain", "b Order rendered-2 without a drain"}},
		{"the new one, if there was none before", cluster(pool("worker", func(p *rollout.Pool) { p.Last = "" }), node("a", joining), node("b")),
			[]string{"a Order rendered-2 without a drain", "b Order rendered-2"}},
		{"also where others cordoned it", cluster(node("a", joining, foreign, down)), []string{"a Order rendered-2 without a drain"}},
		{"once", cluster(node("a", joining, wants(target), func(n *rollout.Node) { n.Phase = rollout.Ordered })), []string{"a waits: Updating"}},
		{"a node that was not configured before is updated like others", cluster(node("a", has("")), node("b", has(""))), []string{"a Order rendered-2", "b waits: BudgetUsed"}},
	})
}

func TestMessagesNameTheCauseAndTheNextStep(t *testing.T) {
	for want, c := range map[string]rollout.Cluster{
		"pool worker allows 1 of 2 nodes to be unavailable, and b is cordoned by others: it follows when one of them is available": cluster(node("a"), node("b", has(target), foreign)),
		"b failed with rendered-2, so opcrew begins no further node of pool worker: correct the MachineConfigs":                    cluster(node("a"), node("b", is(rollout.Failed))),
		"the canary z is updated first, and must be healthy for 5m0s":                                                              cluster(pool("worker", withCanary), node("a"), node("z", isCanary, foreign)),
		"control-plane nodes are updated one at a time, and b is not ready":                                                        cluster(node("a", controlPlane), node("b", controlPlane, has(target), down)),
		"kured holds its lock for this node":                                                                                       cluster(node("a"), lockedBy("a")),
	} {
		found := false
		for _, n := range rollout.Next(c).Nodes {
			found = found || n.Node == "a" && strings.HasPrefix(n.Message, want)
		}
		if !found {
			t.Errorf("expected the message %q, got %+v", want, rollout.Next(c).Nodes)
		}
	}
}
