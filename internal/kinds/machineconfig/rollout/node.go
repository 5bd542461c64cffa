// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// Node is a node of the cluster.
type Node struct {
	Name string
	// Zone is the value of the node's zone label.
	Zone string
	// Pools are the pools that select the node.
	Pools []string
	// Current and Desired are the configurations in the annotations of the node; empty if it has none.
	Current, Desired string
	// Phase is what the node is doing.
	Phase Phase
	// Cordon is who has cordoned the node.
	Cordon Cordon
	// Activity is the Activity of a fleet or NodePool that runs on the node or is about to, or the fleet that cordoned it,
	// as namespace/name; empty if there is none.
	Activity string
	// Ready is condition Ready of the node, and ReadySince when it last changed.
	Ready      bool
	ReadySince time.Time
	// Ordered is when the node got its order; zero if that is not recorded.
	Ordered time.Time
	// Reverted is set if the machine agent reported that the host has its previous configuration again.
	Reverted bool
	// Drained is set if no pod is left to evict.
	Drained bool
	// Joining is set until a new node has been configured for the first time. No pods of users run on it.
	Joining bool
	// ControlPlane is set for control-plane nodes, HostsOperator for the node on which the operator runs, and Canary
	// for nodes that are updated first.
	ControlPlane, HostsOperator, Canary bool
	// Health is whether the node meets the health gate.
	Health Health
	// Unseen is set if the operator wrote the node and has not seen the result yet, so that the node may have an order,
	// or may have begun to change.
	Unseen bool

	// pool configures the node; nil if none does. urgency is its place in the order of decisions.
	pool    *Pool
	urgency int
}

// Health is whether a node meets the health gate of its pool, and since when. Applied is when the machine agent
// reported that it had applied Current.
type Health struct {
	Met            bool
	Since, Applied time.Time
}

// Cordon is who has cordoned a node.
type Cordon string

// Values of Cordon.
const (
	NotCordoned Cordon = ""
	Ours        Cordon = "Ours"
	Foreign     Cordon = "Foreign"
)

func isCustom(pool string) bool { return pool != mcfgv1.PoolWorker && pool != mcfgv1.PoolMaster }

// custom returns the pools of the node other than worker and master.
func (n *Node) custom() []string {
	if len(n.Pools) < 2 && !slices.ContainsFunc(n.Pools, isCustom) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.Pools), func(name string) bool { return !isCustom(name) })
}

// primary returns the pool that configures the node, as in OpenShift: master, then a custom pool, then worker. It is
// empty if there is none, or if several custom pools select the node.
func (n *Node) primary() string {
	best, custom := "", 0
	for _, name := range n.Pools {
		switch {
		case isCustom(name):
			custom++
			if best != mcfgv1.PoolMaster {
				best = name
			}
		case name == mcfgv1.PoolMaster || best == "":
			best = name
		}
	}
	if custom > 1 {
		return ""
	}
	return best
}

// Primary returns the pool that configures the node; empty if there is none, or if several custom pools select the node.
func (n *Node) Primary() string { return n.primary() }

// changing reports whether the node has an order that it has not completed.
func (n *Node) changing() bool { return n.Phase != Idle }
