// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// story is a cluster, and the steps and waits that are expected.
type story struct {
	name    string
	cluster rollout.Cluster
	want    []string
}

func check(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			if got, want := text(rollout.Next(s.cluster)), strings.Join(s.want, "\n"); got != want {
				t.Errorf("expected\n%s\ngot\n%s", want, got)
			}
		})
	}
}

func TestAnUpdateTakesItsStepsInOrder(t *testing.T) {
	other := node("z", has(target))
	check(t, []story{
		{"nothing is left to do", cluster(node("a", has(target)), other), nil},
		{"a node gets its order", cluster(node("a"), other), []string{"a Order rendered-2"}},
		{"the agent has not begun", cluster(node("a", is(rollout.Ordered)), other), []string{"a waits: Updating"}},
		{"the agent asks for a drain", cluster(node("a", is(rollout.WantsDrain)), other), []string{"a Cordon"}},
		{"the node is cordoned", cluster(node("a", is(rollout.WantsDrain), ours), other), []string{"a Evict"}},
		{"a user cordoned the node meanwhile", cluster(node("a", is(rollout.WantsDrain), foreign), other), []string{"a Evict"}},
		{"a user uncordoned the node meanwhile", cluster(node("a", is(rollout.WantsDrain), drained), other), []string{"a Cordon"}},
		{"the node is empty", cluster(node("a", is(rollout.WantsDrain), ours, drained), other), []string{"a ConfirmDrain"}},
		{"the agent works", cluster(node("a", is(rollout.Working), ours, down), other), []string{"a waits: Updating"}},
		{"the agent is done", cluster(node("a", is(rollout.WantsUncordon), ours), other), []string{"a Uncordon"}},
		{"the agent is done, and a user cordoned the node", cluster(node("a", is(rollout.WantsUncordon), foreign), other), []string{"a ConfirmUncordon"}},
		{"a crash left a cordon behind", cluster(node("a", has(target), ours), other), []string{"a Uncordon"}},
		{"a user's cordon stays", cluster(node("a", has(target), foreign), other), nil},
		{"the only node is not drained", cluster(node("a", is(rollout.WantsDrain))), []string{"a ConfirmDrain"}},
		{"a node of no pool is left alone", cluster(node("a", in()), other), nil},
		{"a node of no pool that was reverted is uncordoned", cluster(node("a", in(), is(rollout.Failed), ours, reverted), other), []string{"a Uncordon"}},
		{"a node of no pool whose host may be broken stays cordoned", cluster(node("a", in(), is(rollout.Failed), ours), other), []string{"a waits: NodeFailed"}},
		{"a pool without a configuration waits", cluster(node("a"), pool("worker", renders(""))), []string{"a waits: InvalidConfig"}},
	})
}

func TestALostNodeAndASilentAgentAreNamed(t *testing.T) {
	other := node("z", has(target))
	check(t, []story{
		{"a node reboots", cluster(node("a", is(rollout.Working), down, orderedBefore(time.Hour)), other), []string{"a waits: Updating"}},
		{"a node does not come back", cluster(node("a", is(rollout.Working), lost, orderedBefore(time.Hour)), other), []string{"a waits: NodeNotReady"}},
		{"a node that was lost before has just got a correction", cluster(node("a", is(rollout.Working), lost, orderedBefore(time.Minute)), other), []string{"a waits: Updating"}},
		{"a node is lost before its agent begins", cluster(node("a", is(rollout.Ordered), lost, orderedBefore(time.Hour)), other), []string{"a waits: NodeNotReady"}},
		{"an agent begins soon", cluster(node("a", is(rollout.Ordered), orderedBefore(time.Minute)), other), []string{"a waits: Updating"}},
		{"an agent does not begin", cluster(node("a", is(rollout.Ordered), orderedBefore(10*time.Minute)), other), []string{"a waits: AgentSilent"}},
		{"the agent of a new node does not begin", cluster(node("a", joining, wants(target), orderedBefore(time.Hour), func(n *rollout.Node) { n.Phase = rollout.Ordered }), other), []string{"a waits: AgentSilent"}},
		{"a silent agent does not hide a correction", cluster(pool("worker", renders(newer)), node("a", is(rollout.Ordered), orderedBefore(time.Hour)), other), []string{"a Order rendered-3", "z waits: BudgetUsed"}},
	})
}

func TestEnoughNodesOfEachPoolStayAvailable(t *testing.T) {
	check(t, []story{
		{"one at a time by default", cluster(node("a"), node("b")), []string{"a Order rendered-2", "b waits: BudgetUsed"}},
		{"two at a time", cluster(node("a"), node("b"), node("c"), pool("worker", most("2"))),
			[]string{"a Order rendered-2", "b Order rendered-2", "c waits: BudgetUsed"}},
		{"a percentage is rounded down", cluster(node("a"), node("b"), node("c"), pool("worker", most("66%"))),
			[]string{"a Order rendered-2", "b waits: BudgetUsed", "c waits: BudgetUsed"}},
		{"0 means 1", cluster(node("a"), node("b"), pool("worker", most("0"))), []string{"a Order rendered-2", "b waits: BudgetUsed"}},
		{"0 % means 1", cluster(node("a"), node("b"), pool("worker", most("0%"))), []string{"a Order rendered-2", "b waits: BudgetUsed"}},
		{"a cordon of others counts", cluster(node("a"), node("b", foreign, has(target))), []string{"a waits: BudgetUsed"}},
		{"a node that is not ready counts", cluster(node("a"), node("b", down, has(target), applied(time.Hour, false, time.Minute))), []string{"a waits: BudgetUsed"}},
		{"a node that others cordoned is not updated", cluster(node("a", foreign)), []string{"a waits: Cordoned"}},
		{"a node that is not ready is not updated", cluster(node("a", down)), []string{"a waits: NodeNotReady"}},
		{"kured's lock counts, also before it cordons", cluster(node("a"), node("b", has(target)), lockedBy("b")), []string{"a waits: BudgetUsed"}},
		{"each of several locks of kured counts", cluster(pool("worker", most("2")), node("a"), node("b", has(target)), node("c", has(target)), lockedBy("b", "c")), []string{"a waits: BudgetUsed"}},
		{"a node that kured reboots is not updated", cluster(node("a"), lockedBy("a")), []string{"a waits: OtherReboot"}},
		{"a step needs room in all pools of the node", cluster(pool("worker"), pool("infra", most("2")),
			node("a", in("worker", "infra")), node("b", in("worker", "infra")), node("c", has(target), foreign)),
			[]string{"a waits: BudgetUsed", "b waits: BudgetUsed"}},
		{"an order counts in all pools of the node", cluster(pool("worker"), pool("infra"),
			node("a", in("worker", "infra")), node("b")), []string{"a Order rendered-2", "b waits: BudgetUsed"}},
		{"pools without common nodes proceed in parallel", cluster(pool("worker"), pool("infra"), node("a", in("infra")), node("b")),
			[]string{"a Order rendered-2", "b Order rendered-2"}},
		{"a joining node neither counts nor waits", cluster(node("a"), node("b", joining, down)),
			[]string{"b Order rendered-1 without a drain", "a Order rendered-2"}},
		{"the operator's node is last", cluster(node("a", hostsOperator), node("b"), node("c")), []string{"b Order rendered-2", "c waits: BudgetUsed", "a waits: BudgetUsed"}},
		{"by zone, then by name", cluster(node("a", zone("z2")), node("b", zone("z1")), node("c", zone("z1"))),
			[]string{"b Order rendered-2", "c waits: BudgetUsed", "a waits: BudgetUsed"}},
	})
}

func TestAPoolConfiguresANodeAsInOpenShift(t *testing.T) {
	infra, gpu, master := pool("infra", renders("rendered-infra")), pool("gpu", renders("rendered-gpu")), pool("master", renders("rendered-master"))
	worker := pool("worker")
	check(t, []story{
		{"a custom pool beats worker", cluster(worker, infra, node("a", in("infra", "worker"))), []string{"a Order rendered-infra"}},
		{"master beats a custom pool", cluster(worker, infra, master, node("a", in("infra", "master"))), []string{"a Order rendered-master"}},
		{"two custom pools are a conflict", cluster(worker, infra, gpu, node("a", in("gpu", "infra", "worker"))), []string{"a waits: PoolConflict"}},
		{"a conflict does not interrupt an update", cluster(worker, infra, gpu, node("b"), node("a", in("gpu", "infra"), is(rollout.WantsDrain), ours, drained)),
			[]string{"a ConfirmDrain", "b Order rendered-2"}},
	})
	d := rollout.Next(cluster(infra, gpu, node("a", in("gpu", "infra"))))
	if want := "the pools gpu and infra both select it: change a nodeSelector"; !strings.HasPrefix(d.Nodes[0].Message, want) {
		t.Errorf("expected a message that names both pools, got %q", d.Nodes[0].Message)
	}
}

func TestAPausedPoolBeginsNothing(t *testing.T) {
	paused := pool("worker", isPaused)
	check(t, []story{
		{"no order", cluster(paused, node("a")), []string{"a waits: Paused"}},
		{"no new order for a failed node", cluster(paused, node("a", is(rollout.Failed), wants("rendered-0"))), []string{"a waits: Paused"}},
		{"an update is completed", cluster(paused, node("b", has(target)), node("a", is(rollout.WantsDrain), ours, drained)), []string{"a ConfirmDrain"}},
		{"an update to an earlier configuration is completed", cluster(paused, node("b", has(target)), node("a", is(rollout.WantsDrain), wants("rendered-0"), ours)), []string{"a Evict"}},
		{"a cordon is removed", cluster(paused, node("a", is(rollout.WantsUncordon), ours)), []string{"a Uncordon"}},
		{"a new node gets what the others have", cluster(paused, node("b"), node("a", joining)), []string{"a Order rendered-1 without a drain", "b waits: Paused"}},
		{"also in the middle of an update", cluster(paused, node("b", has(target)), node("c"), node("a", joining)), []string{"a Order rendered-1 without a drain", "c waits: Paused"}},
		{"a new node does not try a new configuration", cluster(pool("worker", isPaused, func(p *rollout.Pool) { p.Last = "" }), node("a", joining)), []string{"a waits: Paused"}},
	})
}

func TestControlPlaneNodesAreUpdatedOneAtATimeWhileEtcdIsHealthy(t *testing.T) {
	master := pool("master", most("3"))
	cp := func(name string, o ...nodeOption) *rollout.Node {
		return node(name, append([]nodeOption{in("master"), controlPlane}, o...)...)
	}
	check(t, []story{
		{"one, whatever maxUnavailable is", cluster(master, cp("a"), cp("b"), cp("c")), []string{"a Order rendered-2", "b waits: BudgetUsed", "c waits: BudgetUsed"}},
		{"one over all pools", cluster(master, pool("infra"), cp("a"), node("b", in("infra"), controlPlane)), []string{"a Order rendered-2", "b waits: BudgetUsed"}},
		{"none while another is cordoned", cluster(master, cp("a"), cp("b", has(target), foreign)), []string{"a waits: BudgetUsed"}},
		{"none while another is not ready", cluster(master, cp("a"), cp("b", has(target), down)), []string{"a waits: BudgetUsed"}},
		{"none while etcd is not healthy", cluster(master, cp("a"), etcd("member b does not answer")), []string{"a waits: EtcdUnhealthy"}},
		{"a drained node stays up while etcd is not healthy", cluster(master, cp("a", is(rollout.WantsDrain), ours, drained), cp("b"), etcd("x")),
			[]string{"a waits: EtcdUnhealthy", "b waits: EtcdUnhealthy"}},
		{"workers do not wait for etcd", cluster(master, pool("worker"), node("a"), etcd("x")), []string{"a Order rendered-2"}},
		{"two that failed are corrected one after the other", cluster(pool("master", renders(newer)), cp("a", is(rollout.Failed)), cp("b", is(rollout.Failed)), cp("c")),
			[]string{"a Order rendered-3", "b waits: BudgetUsed", "c waits: BudgetUsed"}},
		{"a new control-plane node counts while it is configured", cluster(master, cp("a", joining), cp("b", has(target)), cp("c")), []string{"a Order rendered-2 without a drain", "c waits: BudgetUsed"}},
	})
}
