// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// gate returns the conditions that a node of the pool must have after its update.
func gate(p *mcfgv1.MachineConfigPool) []mcfgv1.NodeConditionStatus {
	if r := p.Spec.Rollout; r != nil && r.HealthGate != nil && len(r.HealthGate.Conditions) > 0 {
		return r.HealthGate.Conditions
	}
	return []mcfgv1.NodeConditionStatus{{Type: string(corev1.NodeReady), Status: corev1.ConditionTrue}}
}

// health returns whether a node meets the gate, since when, and when it completed its configuration. A node whose
// completion is not recorded yet has just completed it.
func health(n *corev1.Node, node *rollout.Node, p *mcfgv1.MachineConfigPool, now time.Time) rollout.Health {
	out := rollout.Health{Met: true}
	var met, missed []time.Time
	for _, want := range gate(p) {
		c := condition(n, corev1.NodeConditionType(want.Type))
		if c.Status == want.Status {
			met = append(met, c.LastTransitionTime.Time)
			continue
		}
		out.Met = false
		missed = append(missed, c.LastTransitionTime.Time)
	}
	if out.Since = latest(met); !out.Met {
		out.Since = earliest(missed)
	}
	if node.Current == "" || node.Phase != rollout.Idle {
		return out
	}
	if out.Applied = nodepatch.Updated(n, node.Current); out.Applied.IsZero() {
		out.Applied = now
	}
	return out
}

func latest(times []time.Time) time.Time {
	var out time.Time
	for _, t := range times {
		if t.After(out) {
			out = t
		}
	}
	return out
}

func earliest(times []time.Time) time.Time {
	out := times[0]
	for _, t := range times {
		if t.Before(out) {
			out = t
		}
	}
	return out
}
