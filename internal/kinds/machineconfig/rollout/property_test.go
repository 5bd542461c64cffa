// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// pick returns one of several values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// random returns a cluster in an arbitrary state.
func random(r *rand.Rand) rollout.Cluster {
	c := rollout.Cluster{Now: now, EtcdTrouble: pick(r, "", "", "", "a member is down")}
	for _, name := range []string{"worker", "master", "infra", "gpu"} {
		c.Pools = append(c.Pools, randomPool(r, name))
	}
	for i := range 1 + r.IntN(8) {
		c.Nodes = append(c.Nodes, randomNode(r, fmt.Sprint("n", i)))
	}
	if r.IntN(6) == 0 {
		c.Kured = []string{c.Nodes[r.IntN(len(c.Nodes))].Name}
	}
	return c
}

func randomPool(r *rand.Rand, name string) *rollout.Pool {
	p := pool(name, most(pick(r, "0", "1", "2", "3", "0%", "30%", "50%", "100%")), maxFailures(1+r.IntN(3)))
	p.Target = pick(r, target, target, target, newer, "")
	p.Last = pick(r, before, before, "")
	p.Paused, p.Rollout.RollBack, p.Rollout.Canary = r.IntN(6) == 0, r.IntN(3) == 0, r.IntN(4) == 0
	p.Rollout.Soak = pick(r, 0, 0, 3*time.Minute)
	p.Rollout.CanarySoak = p.Rollout.Soak
	if r.IntN(6) == 0 {
		p.RolledBack = target
	}
	return p
}

func randomNode(r *rand.Rand, name string) *rollout.Node {
	pools := pick(r, []string{"worker"}, []string{"worker"}, []string{"worker", "infra"}, []string{"gpu"}, []string{"infra", "gpu"}, []string{"master"}, []string{"master", "infra"}, nil)
	n := node(name, in(pools...), has(pick(r, before, before, target, "")))
	n.ControlPlane = len(pools) > 0 && pools[0] == "master"
	n.Zone, n.Canary, n.HostsOperator = pick(r, "z1", "z2"), r.IntN(3) == 0, r.IntN(8) == 0
	n.Cordon = pick(r, rollout.NotCordoned, rollout.NotCordoned, rollout.Ours, rollout.Foreign)
	n.Drained, n.Unseen = r.IntN(2) == 0, r.IntN(8) == 0
	if r.IntN(5) == 0 {
		pick(r, down, lost)(n)
	}
	if r.IntN(4) == 0 {
		applied(time.Duration(r.IntN(20))*time.Minute, r.IntN(2) == 0, time.Duration(r.IntN(20))*time.Minute)(n)
	}
	if r.IntN(3) == 0 {
		n.Phase = pick(r, rollout.Ordered, rollout.WantsDrain, rollout.Working, rollout.WantsUncordon, rollout.Failed, rollout.Refused)
		n.Desired = pick(r, target, target, newer)
		n.Ordered, n.Reverted = now.Add(-time.Duration(r.IntN(20))*time.Minute), n.Phase == rollout.Failed && r.IntN(2) == 0
		if n.Phase == rollout.WantsUncordon {
			n.Current = n.Desired
		}
	}
	if r.IntN(8) == 0 {
		joining(n)
		n.Phase = rollout.Idle
	}
	return n
}

func TestNoDecisionBreaksAPromise(t *testing.T) {
	const seeds = 20000
	seen := map[string]int{}
	for seed := range uint64(seeds) {
		c := random(rand.New(rand.NewPCG(seed, 1)))
		d := rollout.Next(c)
		for _, n := range d.Nodes {
			seen[string(n.Action)+n.Reason]++
		}
		seen["RollBack"] += len(d.RollBacks)
		if wrong := forbidden(c, d); wrong != "" {
			t.Fatalf("seed %d: %s\n%s\n%s", seed, wrong, describe(c), text(d))
		}
	}
	for _, kind := range []string{
		"RollBack", string(rollout.Order), string(rollout.CordonNode), string(rollout.Evict), string(rollout.ConfirmDrain), string(rollout.Uncordon),
		string(rollout.ConfirmUncordon), mcfgv1.ReasonPoolConflict, mcfgv1.ReasonInvalidConfig, mcfgv1.ReasonUnhealthy, mcfgv1.ReasonSoaking,
		mcfgv1.ReasonUpdating, mcfgv1.ReasonNodeFailed, mcfgv1.ReasonNodeUnreconcilable, mcfgv1.ReasonTooManyFailures, mcfgv1.ReasonPaused, mcfgv1.ReasonCordoned,
		mcfgv1.ReasonNodeNotReady, mcfgv1.ReasonOtherReboot, mcfgv1.ReasonEtcdUnhealthy, mcfgv1.ReasonBudgetUsed, mcfgv1.ReasonNoCanary, mcfgv1.ReasonAgentSilent,
	} {
		if seen[kind] == 0 {
			t.Errorf("expected some of %d clusters to lead to %s, so that it is tried here: %v", seeds, kind, seen)
		}
	}
}

func TestNextDoesNotChangeItsInput(t *testing.T) {
	for seed := range uint64(500) {
		c := random(rand.New(rand.NewPCG(seed, 2)))
		before := describe(c)
		first, second := text(rollout.Next(c)), text(rollout.Next(c))
		if describe(c) != before || first != second {
			t.Fatalf("seed %d: expected the same input and the same decision twice", seed)
		}
	}
}

func describe(c rollout.Cluster) string {
	out := fmt.Sprintf("etcd %q, kured %v\n", c.EtcdTrouble, c.Kured)
	for _, p := range c.Pools {
		out += fmt.Sprintf("pool %+v max %v\n", *p, p.MaxUnavailable)
	}
	for _, n := range c.Nodes {
		out += fmt.Sprintf("node %+v\n", *n)
	}
	return out
}
