// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
)

// tally is what the rules need to know about the nodes of a pool. It is counted once per pool and step, because a pool
// may have thousands of nodes.
type tally struct {
	// members is the number of nodes that the pool selects, without those that are joining: they run no pods of users
	// yet. unavailable describes those that are unavailable, as in "a is not ready".
	members     int
	unavailable []string
	// configured is the number of members that the pool configures. proven is set if one of them has the pool's goal,
	// and failures are those that failed with it.
	configured int
	proven     bool
	failures   []string
	// canaries are the canary nodes, and behind those that are not updated or not healthy for long enough.
	canaries, behind []string
}

// tally counts the nodes of a pool.
func (c *Cluster) tally(p *Pool) *tally {
	if t := c.tallies[p]; t != nil {
		return t
	}
	t := &tally{}
	for _, n := range c.Nodes {
		if !n.Joining && slices.Contains(n.Pools, p.Name) {
			t.members++
			if why := c.occupied(n); why != "" {
				t.unavailable = append(t.unavailable, fmt.Sprintf("%s is %s", n.Name, why))
			}
		}
		if n.primary() == p.Name {
			t.addConfigured(c, n, p)
		}
	}
	if c.tallies == nil {
		c.tallies = map[*Pool]*tally{}
	}
	c.tallies[p] = t
	return t
}

// addConfigured counts a node that the pool configures.
func (t *tally) addConfigured(c *Cluster, n *Node, p *Pool) {
	if c.failing(n, p) {
		t.failures = append(t.failures, n.Name)
	}
	if n.Joining {
		return
	}
	t.configured++
	t.proven = t.proven || n.Current == p.goal() && n.Phase == Idle
	if !n.Canary {
		return
	}
	t.canaries = append(t.canaries, n.Name)
	if n.changing() || n.Current != p.goal() || !n.Health.Met || c.soaking(n) {
		t.behind = append(t.behind, n.Name)
	}
}
