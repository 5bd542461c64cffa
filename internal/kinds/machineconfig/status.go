// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// blockers are the conditions that keep a pool from being Ready, the most important first.
var blockers = []condition.Blocker{
	condition.WhenTrue(mcfgv1.PoolRenderDegraded),
	condition.WhenTrue(mcfgv1.PoolNodeDegraded),
	condition.WhenTrue(mcfgv1.PoolRolloutBlocked),
}

// Report sets the status from what was read and decided.
func (r *poolReconciler) Report(pool *mcfgv1.MachineConfigPool, f facts, d decision, done kit.Outcome) {
	if pool.DeletionTimestamp != nil {
		return
	}
	s := &pool.Status
	set := condition.Set{Conditions: &s.Conditions, Generation: pool.Generation, Now: done.Now}
	count(s, &d, fleet.Target(pool))
	reportRecords(pool, &d, done)
	s.Plans = d.plans
	s.Nodes = progress(s.Nodes, f, &d, done.Now)
	reportRender(set, f, d.invalid, done)
	reportNodes(set, &d)
	reportDegraded(set, s.Conditions)
	reportBlocked(set, f, &d)
	reportDrift(set, &d)
	reason, message := reportProgress(set, pool, &d)
	set.SumUp(blockers, reason, message)
}

// count counts the nodes of the pool.
func count(s *mcfgv1.MachineConfigPoolStatus, d *decision, target string) {
	s.MachineCount = int32(len(d.members))
	s.UpdatedMachineCount, s.ReadyMachineCount, s.UnavailableMachineCount, s.DegradedMachineCount = 0, 0, 0, 0
	for _, n := range d.members {
		updated := target != "" && n.Current == target && n.Phase == rollout.Idle
		available := n.Ready && n.Cordon == rollout.NotCordoned && n.Phase == rollout.Idle
		failed := n.Phase == rollout.Failed || n.Phase == rollout.Refused
		for counter, counts := range map[*int32]bool{
			&s.UpdatedMachineCount: updated, &s.ReadyMachineCount: updated && available,
			&s.UnavailableMachineCount: !available, &s.DegradedMachineCount: failed,
		} {
			if counts {
				*counter++
			}
		}
	}
}

// reportRecords records what later steps depend on: the configuration with which all nodes are healthy, and an update
// that was stopped.
func reportRecords(pool *mcfgv1.MachineConfigPool, d *decision, done kit.Outcome) {
	s := &pool.Status
	together := func(config string) bool {
		return config != "" && !slices.ContainsFunc(d.members, func(n *rollout.Node) bool { return n.Current != config || n.Phase != rollout.Idle })
	}
	if d.goal == fleet.Target(pool) && together(d.goal) && d.isHealthy() && len(d.conflicts) == 0 && done.Err == nil {
		s.Configuration = pool.Spec.Configuration
	}
	switch {
	case d.rollBack != nil:
		s.RollBack = &mcfgv1.RollBack{
			From: d.rollBack.From, To: d.rollBack.To, At: metav1.NewTime(done.Now.Truncate(1e9)),
			Reason: "The update failed on " + strings.Join(d.rollBack.Nodes[:min(len(d.rollBack.Nodes), mostExamples)], ", "),
		}
	case s.RollBack != nil && s.RollBack.From != fleet.Target(pool):
		s.RollBack = nil
	}
}

// isHealthy reports whether each updated node has met the health gate for long enough.
func (d *decision) isHealthy() bool {
	return !slices.ContainsFunc(d.verdicts, func(v rollout.NodeVerdict) bool {
		return v.Reason == mcfgv1.ReasonSoaking || v.Reason == mcfgv1.ReasonUnhealthy
	})
}

func reportRender(set condition.Set, f facts, invalid string, done kit.Outcome) {
	const kind = mcfgv1.PoolRenderDegraded
	taken, isTaken := done.First(ensure.Taken, ensure.Contested, ensure.Delayed)
	switch p := f.rendering.problem; {
	case p != nil:
		set.True(kind, p.reason, condition.Cut("Nodes keep the configuration that they have: "+p.message, maxMessage))
	case invalid != "":
		set.True(kind, mcfgv1.ReasonInvalidConfig, condition.Cut("Nodes keep the configuration that they have: "+invalid, maxMessage))
	case isTaken:
		set.True(kind, common.ReasonNameTaken, taken.Message)
	case done.Err != nil:
		set.True(kind, common.ReasonRefused, condition.Cut("The configuration cannot be delivered, and opcrew tries again: "+done.Err.Error(), maxMessage))
	case len(f.rendering.rendered.Sources) == 0:
		set.False(kind, mcfgv1.ReasonNoConfigs, "The pool selects no MachineConfig, so its configuration is empty")
	case len(f.rendering.rendered.Warnings) > 0:
		set.False(kind, mcfgv1.ReasonRendered, "The configuration is rendered. "+strings.Join(f.rendering.rendered.Warnings, ". "))
	default:
		set.False(kind, mcfgv1.ReasonRendered, fmt.Sprintf("The configuration is merged from %d MachineConfigs", len(f.rendering.rendered.Sources)))
	}
}

func reportDegraded(set condition.Set, all []metav1.Condition) {
	for _, kind := range []string{mcfgv1.PoolRenderDegraded, mcfgv1.PoolNodeDegraded} {
		for _, c := range all {
			if c.Type == kind && c.Status == metav1.ConditionTrue {
				set.True(mcfgv1.PoolDegraded, c.Reason, c.Message)
				return
			}
		}
	}
	set.False(mcfgv1.PoolDegraded, mcfgv1.ReasonHealthy, "The configuration is rendered, and no node has failed")
}

// reportProgress sets Updated and Updating, and returns what Ready says while nothing blocks.
func reportProgress(set condition.Set, pool *mcfgv1.MachineConfigPool, d *decision) (reason, message string) {
	s := pool.Status
	behind := s.MachineCount - s.UpdatedMachineCount
	switch {
	case d.goal == "":
		reason, message = mcfgv1.ReasonUpdating, "The pool has no configuration yet"
	case s.MachineCount == 0:
		reason, message = mcfgv1.ReasonNoNodes, "No node belongs to the pool: label nodes, or change spec.nodeSelector"
	case pool.Status.RollBack != nil:
		reason, message = mcfgv1.ReasonRolledBack, fmt.Sprintf("%s. All nodes return to %s: correct the MachineConfigs", s.RollBack.Reason, s.RollBack.To)
	case behind > 0 && rollout.IsPaused(pool):
		reason, message = mcfgv1.ReasonPaused, fmt.Sprintf("%d of %d nodes do not have the configuration, because the pool is paused: %s to update them",
			behind, s.MachineCount, rollout.Resume(pool))
	case s.ReadyMachineCount < s.MachineCount:
		reason, message = mcfgv1.ReasonUpdating, fmt.Sprintf("%d of %d nodes have the configuration, and %d are ready", s.UpdatedMachineCount, s.MachineCount, s.ReadyMachineCount)
	default:
		reason, message = mcfgv1.ReasonAllUpdated, fmt.Sprintf("%d of %d nodes have the configuration and are ready", s.MachineCount, s.MachineCount)
	}
	updated := reason == mcfgv1.ReasonAllUpdated || reason == mcfgv1.ReasonNoNodes
	updating := reason == mcfgv1.ReasonUpdating || reason == mcfgv1.ReasonRolledBack && behind > 0
	setTo(set, mcfgv1.PoolUpdated, updated, reason, message)
	setTo(set, mcfgv1.PoolUpdating, updating, reason, message)
	return reason, message
}

func setTo(set condition.Set, kind string, is bool, reason, message string) {
	if is {
		set.True(kind, reason, message)
	} else {
		set.False(kind, reason, message)
	}
}
