// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"strings"
	"time"
)

// Cluster is everything that the rules need to know.
type Cluster struct {
	Now   time.Time
	Pools []*Pool
	Nodes []*Node
	// EtcdTrouble says why etcd is not healthy; empty if it is.
	EtcdTrouble string
	// Kured are the nodes that hold kured's reboot lock.
	Kured []string

	tallies map[*Pool]*tally
}

// Input is what a rule decides about: one node in its cluster.
type Input struct {
	*Cluster
	Node *Node
	// Pool is the pool that configures the node; nil if none does.
	Pool *Pool
}

// pool returns the pool with a name; nil if there is none.
func (c *Cluster) pool(name string) *Pool {
	if i := slices.IndexFunc(c.Pools, func(p *Pool) bool { return p.Name == name }); i >= 0 {
		return c.Pools[i]
	}
	return nil
}

// mostNamed is how many nodes a message names.
const mostNamed = 3

func list(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:mostNamed], ", ") + " and others"
}
