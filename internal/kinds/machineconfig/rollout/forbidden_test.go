// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// forbidden returns which promise a decision breaks; empty if it breaks none. It does not use the rules: it counts
// again from the cluster.
func forbidden(c rollout.Cluster, d rollout.Decision) string {
	seen := map[string]rollout.NodeVerdict{}
	for _, v := range d.Nodes {
		if _, twice := seen[v.Node]; twice {
			return v.Node + " has two verdicts"
		}
		seen[v.Node] = v
		if v.Action == "" && (v.Reason == "" || v.Message == "") {
			return v.Node + " waits without a reason"
		}
	}
	for _, n := range c.Nodes {
		v := seen[n.Name]
		if n.Unseen {
			if v.Node != "" {
				return n.Name + ": a verdict about a node that may be different by now"
			}
			continue
		}
		for _, look := range []func(rollout.Cluster, *rollout.Node, rollout.NodeVerdict) string{badOrder, badDrain, badUncordon, badSilence} {
			if wrong := look(c, n, v); wrong != "" {
				return n.Name + ": " + wrong
			}
		}
	}
	if wrong := tooManyDown(c, seen); wrong != "" {
		return wrong
	}
	return badControlPlane(c, seen)
}

// poolOf returns the pool that configures a node: master, the custom pool, or worker.
func poolOf(c rollout.Cluster, n *rollout.Node) *rollout.Pool {
	var custom []string
	for _, name := range n.Pools {
		if name != "worker" && name != "master" {
			custom = append(custom, name)
		}
	}
	name := "worker"
	switch {
	case len(custom) > 1 || len(n.Pools) == 0:
		return nil
	case slices.Contains(n.Pools, "master"):
		name = "master"
	case len(custom) == 1:
		name = custom[0]
	}
	for _, p := range c.Pools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func goalOf(p *rollout.Pool) string {
	if p.RolledBack != "" && p.RolledBack == p.Target && p.Last != "" {
		return p.Last
	}
	return p.Target
}

func badOrder(c rollout.Cluster, n *rollout.Node, v rollout.NodeVerdict) string {
	if v.Action != rollout.Order {
		return ""
	}
	if wrong := badBegin(c, n); wrong != "" {
		return wrong
	}
	p := poolOf(c, n)
	switch {
	case p == nil:
		return "an order without a pool, or with two"
	case v.Config == "" || (v.Config != goalOf(p) && (!n.Joining || v.Config != p.Last)):
		return "an order for a configuration that the pool does not have"
	case n.Phase != rollout.Idle && v.Config == n.Desired:
		return "an order that the node already has"
	case n.Phase == rollout.Working || n.Phase == rollout.WantsUncordon:
		return "an order that disturbs the machine agent"
	case p.Paused && (!n.Joining || v.Config != p.Last):
		return "an order in a paused pool"
	}
	return ""
}

// badBegin reports a node that must not begin an update.
func badBegin(c rollout.Cluster, n *rollout.Node) string {
	if n.Phase != rollout.Idle || n.Joining {
		return ""
	}
	switch {
	case n.Cordon == rollout.Foreign:
		return "an order for a node that others cordoned"
	case slices.Contains(c.Kured, n.Name):
		return "an order for a node that kured reboots"
	case !n.Ready && (n.Health.Met || n.Health.Applied.IsZero()):
		return "an order for a node that is not ready, and has not failed an update"
	}
	return ""
}

func badDrain(c rollout.Cluster, n *rollout.Node, v rollout.NodeVerdict) string {
	asked := n.Phase == rollout.WantsDrain
	switch v.Action {
	case rollout.CordonNode:
		if !asked || n.Cordon != rollout.NotCordoned || len(c.Nodes) == 1 {
			return "a cordon that is not needed"
		}
	case rollout.Evict:
		if !asked || n.Cordon == rollout.NotCordoned || n.Drained {
			return "an eviction that is not needed, or from a node that gets new pods"
		}
	case rollout.ConfirmDrain:
		if !asked || (len(c.Nodes) > 1 && (n.Cordon == rollout.NotCordoned || !n.Drained)) {
			return "a confirmation of a drain that is not complete"
		}
	}
	return ""
}

func badUncordon(c rollout.Cluster, n *rollout.Node, v rollout.NodeVerdict) string {
	restored := n.Phase == rollout.Failed && n.Reverted && poolOf(c, n) == nil
	switch {
	case v.Action == rollout.Uncordon && n.Cordon != rollout.Ours:
		return "removes a cordon that is not opcrew's"
	case v.Action == rollout.Uncordon && n.Phase != rollout.WantsUncordon && n.Phase != rollout.Idle && !restored:
		return "uncordons a node that is being updated"
	case v.Action == rollout.ConfirmUncordon && n.Phase != rollout.WantsUncordon:
		return "confirms what no agent asked"
	}
	return ""
}

// badSilence reports a node that should change and has neither a step nor a reason.
func badSilence(c rollout.Cluster, n *rollout.Node, v rollout.NodeVerdict) string {
	if v.Node != "" {
		return ""
	}
	p := poolOf(c, n)
	if len(n.Pools) > 0 && (p == nil || (n.Current != goalOf(p) && !n.Joining)) || n.Phase != rollout.Idle {
		return "no step and no reason"
	}
	return ""
}

// tooManyDown counts the unavailable nodes of each pool again, with the orders of the decision.
func tooManyDown(c rollout.Cluster, seen map[string]rollout.NodeVerdict) string {
	for _, p := range c.Pools {
		total, down, added := 0, 0, 0
		for _, n := range c.Nodes {
			if n.Joining || !slices.Contains(n.Pools, p.Name) {
				continue
			}
			total++
			switch {
			case isDown(c, n):
				down++
			case seen[n.Name].Action == rollout.Order:
				added++
			}
		}
		if most := limit(p.MaxUnavailable.String(), total); added > 0 && down+added > most {
			return fmt.Sprintf("pool %s: %d nodes are unavailable, %d more get orders, and %d of %d may be", p.Name, down, added, most, total)
		}
	}
	return ""
}

// isDown reports whether a node is unavailable: cordoned, not ready, changing or perhaps changing, about to be rebooted by kured, or
// updated and not known to be healthy.
func isDown(c rollout.Cluster, n *rollout.Node) bool {
	if n.Phase != rollout.Idle || n.Unseen || n.Cordon != rollout.NotCordoned || !n.Ready || slices.Contains(c.Kured, n.Name) {
		return true
	}
	p := poolOf(c, n)
	if p == nil || n.Health.Applied.IsZero() {
		return false
	}
	late := !n.Health.Met && n.Health.Since.Before(n.Health.Applied.Add(p.Rollout.Timeout))
	overdue := late && !c.Now.Before(n.Health.Applied.Add(p.Rollout.Timeout))
	if n.Current != goalOf(p) {
		return overdue
	}
	soak := p.Rollout.Soak
	return late || n.Health.Met && (c.Now.Sub(n.Health.Since) < soak || c.Now.Sub(n.Health.Applied) < soak)
}

// limit returns how many nodes a text such as 30% allows.
func limit(text string, total int) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if strings.HasSuffix(text, "%") {
		n = n * total / 100
	}
	return max(1, n)
}

// hasOldOrder reports whether the pool of a node has another configuration by now.
func hasOldOrder(c rollout.Cluster, n *rollout.Node) bool {
	p := poolOf(c, n)
	return p != nil && !p.Paused && goalOf(p) != "" && n.Desired != goalOf(p)
}

// badControlPlane reports control-plane nodes that go down together, or while etcd is not healthy.
func badControlPlane(c rollout.Cluster, seen map[string]rollout.NodeVerdict) string { //nolint:gocyclo // counts, one line each
	before, after, fresh, working, confirmed := 0, 0, 0, 0, 0
	for _, n := range c.Nodes {
		if !n.ControlPlane {
			continue
		}
		busy := n.Phase == rollout.Ordered || n.Phase == rollout.WantsDrain && !hasOldOrder(c, n) || n.Phase == rollout.Working || n.Unseen
		ordered := seen[n.Name].Action == rollout.Order
		if busy {
			before++
		}
		if busy || ordered {
			after++
		}
		if ordered && n.Phase == rollout.Idle {
			fresh++
		}
		if n.Phase == rollout.Working || n.Unseen {
			working++
		}
		if seen[n.Name].Action == rollout.ConfirmDrain {
			confirmed++
		}
		if seen[n.Name].Action == rollout.ConfirmDrain && c.EtcdTrouble != "" && len(c.Nodes) > 1 {
			return n.Name + " goes down while etcd is not healthy"
		}
	}
	switch {
	case confirmed > 0 && working+confirmed > 1:
		return fmt.Sprintf("%d control-plane nodes go down while %d are down", confirmed, working)
	case after > max(1, before):
		return fmt.Sprintf("%d control-plane nodes change at once", after)
	case fresh > 0 && c.EtcdTrouble != "":
		return "a control-plane node begins while etcd is not healthy"
	}
	return ""
}
