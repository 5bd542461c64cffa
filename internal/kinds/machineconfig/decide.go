// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"cmp"
	"slices"
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// decision is what the rules decide about the nodes of a pool.
type decision struct {
	// goal is the configuration that the nodes get.
	goal string
	// members are the nodes that the pool configures, by name, and conflicts those that other custom pools select too.
	members, conflicts []*rollout.Node
	// left are nodes that got an order of the pool, and that no pool selects any more.
	left []*rollout.Node
	// verdicts are those about the nodes of the pool, in the order of urgency.
	verdicts []rollout.NodeVerdict
	// ready are the nodes of all pools that can take a step now. A node that is drained looks at its pods by itself.
	ready []string
	// invalid says why no host can carry out the order to get the goal; empty if hosts can.
	invalid  string
	rollBack *rollout.RollBack
	// reports are the last reports of machine agents by node.
	reports map[string]machineorder.Report
	plans   []mcfgv1.Plan
	// needed are the rendered MachineConfigs that must be kept.
	needed map[string]bool
}

// Decide asks the rules of package rollout about the whole fleet, and keeps what concerns this pool.
func (r *poolReconciler) Decide(pool *mcfgv1.MachineConfigPool, f facts, now time.Time) decision {
	d := decision{reports: map[string]machineorder.Report{}}
	if pool.DeletionTimestamp != nil {
		return d
	}
	cluster := f.fleet.Cluster(now)
	d.goal = fleet.Goal(pool)
	for i, n := range cluster.Nodes {
		switch {
		case n.Primary() == pool.Name:
			d.members = append(d.members, n)
		case n.Primary() == "" && slices.Contains(n.Pools, pool.Name):
			d.conflicts = append(d.conflicts, n)
		case len(n.Pools) == 0 && poolOf(n.Desired) == pool.Name:
			d.left = append(d.left, n)
		default:
			continue
		}
		d.reports[n.Name] = f.fleet.Report(f.fleet.Nodes[i])
	}
	slices.SortFunc(d.members, func(a, b *rollout.Node) int { return cmp.Compare(a.Name, b.Name) })
	d.takeVerdicts(pool.Name, rollout.Next(cluster))
	d.plans, d.invalid = plansOf(pool, f, &d)
	d.holdInvalid(pool, f)
	d.holdDenied(f)
	d.needed = needed(pool, f.rendered, &f.fleet)
	return d
}

// takeVerdicts keeps the verdicts about nodes of the pool.
func (d *decision) takeVerdicts(pool string, all rollout.Decision) {
	for _, v := range all.Nodes {
		is := func(n *rollout.Node) bool { return n.Name == v.Node }
		if v.Pool == pool || slices.ContainsFunc(d.conflicts, is) || slices.ContainsFunc(d.left, is) {
			d.verdicts = append(d.verdicts, v)
		}
		if v.Action != "" && v.Action != rollout.Evict {
			d.ready = append(d.ready, v.Node)
		}
	}
	for i := range all.RollBacks {
		if all.RollBacks[i].Pool == pool {
			d.rollBack = &all.RollBacks[i]
		}
	}
}

// needed returns the rendered MachineConfigs of a pool that must be kept: those that a node has or was ordered to have,
// those of the pool's status and spec, and the latest others, as many as spec.historyLimit.
func needed(pool *mcfgv1.MachineConfigPool, rendered []*mcfgv1.MachineConfig, all *fleet.Fleet) map[string]bool {
	out := map[string]bool{pool.Spec.Configuration.Name: true, pool.Status.Configuration.Name: true}
	if back := pool.Status.RollBack; back != nil {
		out[back.From], out[back.To] = true, true
	}
	for _, n := range all.Nodes {
		out[n.Annotations[machineorder.CurrentConfig]] = true
		out[n.Annotations[machineorder.DesiredConfig]] = true
		out[all.Report(n).RevertedTo] = true
	}
	history := slices.DeleteFunc(slices.Clone(rendered), func(mc *mcfgv1.MachineConfig) bool { return out[mc.Name] })
	slices.SortFunc(history, func(a, b *mcfgv1.MachineConfig) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	limit := mcfgv1.DefaultHistoryLimit
	if pool.Spec.HistoryLimit != nil {
		limit = int(*pool.Spec.HistoryLimit)
	}
	for _, mc := range history[:min(limit, len(history))] {
		out[mc.Name] = true
	}
	return out
}
