// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"cmp"
	"maps"
	"slices"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/changes"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// plansOf returns what the nodes of a pool change to reach its configuration, those with the most nodes first, and why
// no host could carry out one of these changes.
func plansOf(pool *mcfgv1.MachineConfigPool, f facts, d *decision) (out []mcfgv1.Plan, invalid string) {
	to := f.configs[d.goal]
	if to == nil || d.goal == "" {
		return nil, ""
	}
	nodes := map[string][]string{}
	for _, n := range d.members {
		if n.Current != d.goal {
			nodes[n.Current] = append(nodes[n.Current], n.Name)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(nodes)) {
		p := planFor(pool, f, f.configs[from], to)
		p.From, p.To, p.NodeCount = from, d.goal, int32(len(nodes[from]))
		p.Nodes = nodes[from][:min(len(nodes[from]), mostExamples)]
		out = append(out, p)
		invalid = cmp.Or(invalid, whyInvalid(pool, f, from, d.goal))
	}
	slices.SortStableFunc(out, func(a, b mcfgv1.Plan) int { return cmp.Compare(b.NodeCount, a.NodeCount) })
	return out[:min(len(out), mcfgv1.MaxPlans)], invalid
}

// planFor describes the change of nodes from one configuration to another. If the old one no longer exists (from is
// nil), the difference is unknown.
func planFor(pool *mcfgv1.MachineConfigPool, f facts, from, to *orders.Config) mcfgv1.Plan {
	steps := orders.Required([]*orders.Config{from}, to, pool.Spec.NodeDisruptionPolicy)
	out := mcfgv1.Plan{Drains: steps.Drains(), Reboots: steps.Reboots(), Actions: firstActions(steps)}
	if from == nil {
		out.Summary = "The difference is unknown, because the configuration of the nodes no longer exists; reboots the node"
		return out
	}
	all := changes.Diff(from.Config, to.Config, publicDigest(f.key, from.Secret, to.Secret))
	out.Changes, out.ChangeCount = changes.Status(all)
	out.Summary = condition.Cut(changes.Summary(all, steps), maxMessage)
	return out
}

// firstActions returns as many actions as fit into the status.
func firstActions(steps changes.Steps) []string {
	all := steps.Strings()
	return all[:min(len(all), mcfgv1.MaxChanges)]
}
