// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// In a cluster whose troubles end, each node reaches its configuration, and no decision on the way breaks a promise.
func TestEveryClusterWhoseTroublesEndIsUpdated(t *testing.T) {
	for seed := range uint64(400) {
		s := &simulation{Rand: rand.New(rand.NewPCG(seed, 3))}
		s.c = random(s.Rand)
		for s.tick = range 300 {
			s.c.Now = s.c.Now.Add(time.Minute)
			s.world()
			d := rollout.Next(s.c)
			if wrong := forbidden(s.c, d); wrong != "" {
				t.Fatalf("seed %d, minute %d: %s\n%s\n%s", seed, s.tick, wrong, describe(s.c), text(d))
			}
			s.apply(d)
		}
		if wrong := s.unfinished(); wrong != "" {
			t.Fatalf("seed %d: %s\n%s\n%s", seed, wrong, describe(s.c), text(rollout.Next(s.c)))
		}
	}
}

// simulation is a cluster whose machine agents carry out orders, and whose users solve problems after a while.
type simulation struct {
	*rand.Rand
	c    rollout.Cluster
	tick int
}

// Minutes at which troubles end: first those of the cluster, then those that users solve.
const (
	calm  = 40
	users = 80
	cure  = "rendered-9"
)

func (s *simulation) world() {
	if s.tick == calm {
		s.c.EtcdTrouble, s.c.Kured = "", nil
	}
	for _, n := range s.c.Nodes {
		s.settle(n)
		if s.IntN(2) == 0 {
			s.agent(n)
		}
	}
	if s.tick == users {
		for _, p := range s.c.Pools {
			p.Paused, p.Target, p.Rollout.Canary = false, cure, false
		}
	}
}

// settle ends what others did to a node.
func (s *simulation) settle(n *rollout.Node) {
	n.Unseen = s.tick < calm && s.IntN(8) == 0
	if s.tick == calm {
		n.Ready = true
		if n.Cordon == rollout.Foreign {
			n.Cordon = rollout.NotCordoned
		}
	}
	if s.tick == users {
		n.Pools = append(n.Pools, "worker")[:1]
	}
	if s.tick >= calm && n.Ready && !n.Health.Met {
		n.Health.Met, n.Health.Since = true, s.c.Now
	}
}

// agent takes one step of the machine agent. Configurations before the users' correction may fail.
func (s *simulation) agent(n *rollout.Node) {
	switch n.Phase {
	case rollout.Ordered:
		n.Phase = pick(s.Rand, rollout.WantsDrain, rollout.Working)
		if s.tick < users && s.IntN(8) == 0 {
			n.Phase = rollout.Refused
		}
	case rollout.Working:
		if s.tick < users && s.IntN(6) == 0 {
			n.Phase = rollout.Failed
			return
		}
		n.Current, n.Phase, n.Joining = n.Desired, rollout.WantsUncordon, false
		n.Health.Applied = s.c.Now
		if s.tick < calm && s.IntN(8) == 0 {
			n.Ready, n.Health.Met, n.Health.Since = false, false, s.c.Now
		}
	}
}

// apply carries out a decision.
func (s *simulation) apply(d rollout.Decision) {
	for _, r := range d.RollBacks {
		for _, p := range s.c.Pools {
			if p.Name == r.Pool {
				p.RolledBack = r.From
			}
		}
	}
	for _, v := range d.Nodes {
		for _, n := range s.c.Nodes {
			if n.Name == v.Node {
				s.take(n, v)
			}
		}
	}
}

func (s *simulation) take(n *rollout.Node, v rollout.NodeVerdict) {
	switch v.Action {
	case rollout.Order:
		n.Desired, n.Phase, n.Drained = v.Config, rollout.Ordered, false
	case rollout.CordonNode:
		n.Cordon = rollout.Ours
	case rollout.Evict:
		n.Drained = s.IntN(3) == 0
	case rollout.ConfirmDrain:
		n.Phase, n.Drained = rollout.Working, false
	case rollout.Uncordon:
		n.Phase, n.Cordon = rollout.Idle, rollout.NotCordoned
	case rollout.ConfirmUncordon:
		n.Phase = rollout.Idle
	}
}

// unfinished returns what is left to do; empty if nothing is.
func (s *simulation) unfinished() string {
	for _, n := range s.c.Nodes {
		p := poolOf(s.c, n)
		if p == nil {
			continue
		}
		if n.Current != goalOf(p) || n.Phase != rollout.Idle || n.Cordon != rollout.NotCordoned || n.Joining {
			return fmt.Sprintf("expected %s to have %s, be idle and not cordoned", n.Name, goalOf(p))
		}
	}
	if d := rollout.Next(s.c); len(d.Nodes) > 0 {
		return "expected that nothing is left to do"
	}
	return ""
}
