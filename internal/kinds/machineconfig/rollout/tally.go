// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
)

// tally is what the rules need to know about the nodes of a pool. It is counted once per pool and decision, because a
// pool may have thousands of nodes.
type tally struct {
	// members is the number of nodes that the pool selects, without those that are joining: they run no pods of users
	// yet. unavailable is how many of them are unavailable, and examples describes the first, as in "a is not ready".
	members     int
	unavailable int
	examples    []string
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
			t.addUnavailable(n, c.occupied(n))
		}
		if n.pool == p {
			t.addConfigured(c, n, p)
		}
	}
	if c.tallies == nil {
		c.tallies = map[*Pool]*tally{}
	}
	c.tallies[p] = t
	return t
}

// addUnavailable counts a node if there is a reason why it is unavailable. It describes as many as a message names, and
// one more, so that the message says that there are others.
func (t *tally) addUnavailable(n *Node, why string) {
	if why == "" {
		return
	}
	t.unavailable++
	if len(t.examples) <= mostNamed {
		t.examples = append(t.examples, fmt.Sprintf("%s is %s", n.Name, why))
	}
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
	if n.changing() || n.Unseen || n.Current != p.goal() || !n.Health.Met || c.soaking(n) {
		t.behind = append(t.behind, n.Name)
	}
}

// recount corrects the tallies after an order. The order of a node that was available and outdated makes it unavailable,
// and changes nothing else; after any other order, the nodes are counted again.
func (c *Cluster) recount(before, n *Node) {
	if before.Phase != Idle || before.pool == nil || before.Current == before.pool.goal() || c.missedGate(before) {
		c.tallies = nil
		return
	}
	if n.Joining || c.occupied(before) != "" {
		return
	}
	for p, t := range c.tallies {
		if slices.Contains(n.Pools, p.Name) {
			t.addUnavailable(n, c.occupied(n))
		}
	}
}
