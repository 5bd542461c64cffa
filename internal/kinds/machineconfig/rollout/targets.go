// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// goal returns the configuration that the node should have; empty if there is none.
func (in *Input) goal() string {
	if in.Node.Joining {
		return in.joinGoal()
	}
	return in.Pool.goal()
}

// joinGoal returns the configuration for a new node: that of the pool if a node already has it, and otherwise the one
// that the nodes last had together, which a paused pool gives to all new nodes. A new node is the first to try a
// configuration only if there is no other, or if the other failed on it.
func (in *Input) joinGoal() string {
	goal, others := in.Pool.goal(), in.tally(in.Pool)
	switch {
	case in.Node.Desired == goal || in.Node.Phase == Failed || in.Node.Phase == Refused:
		return goal
	case in.Pool.Paused && in.Pool.Last != "":
		return in.Pool.Last
	case others.proven || others.configured == 0 || in.Pool.Last == "":
		return goal
	}
	return in.Pool.Last
}

// conflict refuses to configure a node that two custom pools select, because they would undo each other's changes.
func conflict(in *Input) Verdict {
	custom := in.Node.custom()
	if len(custom) < 2 {
		return Verdict{}
	}
	return wait(mcfgv1.ReasonPoolConflict, "the pools %s both select it: change a nodeSelector or the labels of the node, so that one custom pool selects it",
		strings.Join(custom, " and "))
}

// none leaves a node alone that no pool configures. Its machine agent still completes an order. Pods may come back to a
// node that failed if its host is as it was before.
func none(in *Input) Verdict {
	switch {
	case in.Pool != nil:
		return Verdict{}
	case in.Node.Phase == Failed && in.Node.Reverted && in.Node.Cordon == Ours:
		return step(Uncordon)
	case in.Node.Phase == Failed || in.Node.Phase == Refused:
		return wait(mcfgv1.ReasonNodeFailed, "it could not get %s, and no pool selects it any more: label it for a pool, whose configuration it then gets", in.Node.Desired)
	case in.Node.changing():
		return wait(mcfgv1.ReasonUpdating, "its machine agent applies %s, and no pool selects it any more", in.Node.Desired)
	}
	return rest()
}

func unknown(in *Input) Verdict {
	if in.goal() == "" {
		return wait(mcfgv1.ReasonInvalidConfig, "pool %s has no configuration: see its condition RenderDegraded", in.Pool.Name)
	}
	return Verdict{}
}

// join configures a new node. It has no pods of users, so the step needs no drain and no room in a budget.
func join(in *Input) Verdict {
	n := in.Node
	if !n.Joining || n.Phase == Working || n.Phase == WantsDrain || n.Desired == in.goal() {
		return Verdict{}
	}
	if in.Pool.Paused && in.goal() != in.Pool.Last {
		return Verdict{}
	}
	for _, hinders := range []Rule{one, activity} {
		if v := hinders(in); v != (Verdict{}) {
			return v
		}
	}
	out := order(in.goal())
	out.Skip = true
	return out
}

// updated leaves a node alone that has the configuration.
func updated(in *Input) Verdict {
	if in.Node.Phase != Idle || in.Node.Current != in.goal() {
		return Verdict{}
	}
	switch {
	case in.missedGate(in.Node):
		return wait(mcfgv1.ReasonUnhealthy, "it has had %s for %s and is not healthy: repair the node, or change the MachineConfigs of pool %s",
			in.goal(), age(in.Now.Sub(in.Node.Health.Applied)), in.Pool.Name)
	case in.soaking(in.Node):
		return wait(mcfgv1.ReasonSoaking, "it has %s, and must be healthy for %s before another node takes its place", in.goal(), in.soak(in.Node))
	}
	return rest()
}
