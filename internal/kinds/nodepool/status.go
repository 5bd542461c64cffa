// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// blockers lists the conditions that can keep a NodePool from being Ready. If several of them do, Ready reports the
// first one in this order.
var blockers = []condition.Blocker{
	condition.Unless(nodesv1.NodePoolRuntimeClassReady),
	condition.WhenTrue(nodesv1.NodePoolConflict),
	condition.Unless(nodesv1.NodePoolNodesUpdated),
	condition.WhenFalse(nodesv1.NodePoolHandlerAvailable),
	condition.Unless(nodesv1.NodePoolConfigured),
	condition.WhenFalse(nodesv1.NodePoolPipelines),
	condition.WhenFalse(nodesv1.NodePoolRemediation).But(nodesv1.ReasonNotEffective),
	condition.WhenFalse(nodesv1.NodePoolMachinesMatch),
	condition.WhenFalse(nodesv1.NodePoolFirewallActive),
}

// Report fills in the status from the facts and the outcome of the plan.
func (r *poolReconciler) Report(pool *nodesv1.NodePool, f facts, d decision, done kit.Outcome) {
	status := &pool.Status
	count(status, f.nodes)
	status.Conflicts = slices.Clip(d.conflicts[:min(len(d.conflicts), maxConflicts)])
	set := condition.Set{Conditions: &status.Conditions, Generation: pool.Generation, Now: done.Now}
	done, steps := withoutSteps(done)
	class, config := apart(done)
	reportClass(set, pool, class)
	reportConflicts(set, d.conflicts)
	reportNodes(set, pool.Name, f.nodes, f.refusals)
	reportHandler(set, pool.Handler(), f.nodes)
	reportConfig(set, pool, f.config, d.config, config)
	reportSteps(set, pool, d.steps, steps)
	reportRemedies(set, pool, d.remedies, steps)
	reportMachines(set, pool, machines.Verify(pool, belonging(f.nodes), f.machines.View))
	reportFirewall(set, status, d.firewall)
	set.SumUp(blockers, readyReason(status), readyMessage(pool))
	reportFrozen(set, pool, previewInput{
		members: f.preview, pods: f.pods, class: f.class, classChanges: class.Held > 0, configChange: configChange(pool, d.config, config),
	})
	reportDeletion(set, pool, max(len(f.nodes), f.held, f.firewall.Held(pool.Name)))
	status.Status = 503
	if ready(status) {
		status.Status = 200
	}
}

func reportClass(set condition.Set, pool *nodesv1.NodePool, done kit.Outcome) {
	if done.Err == nil && done.Held > 0 && nodestate.DryRun(pool) {
		set.False(nodesv1.NodePoolRuntimeClassReady, nodesv1.ReasonDryRun, "A change of the RuntimeClass is held back by the annotation "+common.DryRunAnnotation)
		return
	}
	done.ReportChildren(set, nodesv1.NodePoolRuntimeClassReady)
}

func reportConflicts(set condition.Set, conflicts []nodesv1.Conflict) {
	if len(conflicts) == 0 {
		set.False(nodesv1.NodePoolConflict, nodesv1.ReasonNoConflict, "No other owner has set a label, annotation or taint of the pool to a different value")
		return
	}
	reason := nodesv1.ReasonHeldByOthers
	if conflicts[0].Owner != "" {
		reason = nodesv1.ReasonHeldByPool
	}
	message := describe(conflicts[0])
	if more := len(conflicts) - 1; more > 0 {
		message += fmt.Sprintf("; and %s more, see status.conflicts", plural(more, "conflict"))
	}
	set.True(nodesv1.NodePoolConflict, reason, message)
}

// reportFrozen reports the changes that a pause or dry run holds back, and shows the preview of a dry run.
func reportFrozen(set condition.Set, pool *nodesv1.NodePool, in previewInput) {
	pool.Status.Preview = nil
	if !nodestate.Frozen(pool) || pool.DeletionTimestamp != nil {
		return
	}
	p := preview(pool, in)
	if nodestate.DryRun(pool) {
		pool.Status.Preview = p
	}
	if len(p.Changes) == 0 {
		return
	}
	if p.NodeCount > 0 {
		reason := common.ReasonPaused
		if nodestate.DryRun(pool) {
			reason = nodesv1.ReasonDryRun
		}
		set.False(nodesv1.NodePoolNodesUpdated, reason, "Changes to "+plural(int(p.NodeCount), "node")+" are held back")
	}
	if !nodestate.DryRun(pool) {
		set.False(nodesv1.NodePoolReady, common.ReasonPaused, fmt.Sprintf("The annotation %s holds back changes to %s; the first change: %s",
			common.PausedAnnotation, plural(int(p.NodeCount), "node"), p.Changes[0]))
		return
	}
	message := fmt.Sprintf("The annotation %s holds back changes that would affect %s and evict %s, as status.preview shows; first change: %s",
		common.DryRunAnnotation, plural(int(p.NodeCount), "node"), plural(int(p.EvictionCount), "pod"), p.Changes[0])
	set.False(nodesv1.NodePoolReady, nodesv1.ReasonDryRun, message)
}

// reportDeletion reports how many nodes still have settings of a deleted NodePool, and what prevents their removal.
func reportDeletion(set condition.Set, pool *nodesv1.NodePool, left int) {
	if pool.DeletionTimestamp == nil {
		return
	}
	nodes := plural(left, "node")
	message := "opcrew is removing the settings of the pool from " + nodes
	if n := pool.Status.LeavingNodes; n > 0 {
		message += fmt.Sprintf("; %s run spec.onLeave first, see status.pipelines", plural(int(n), "node"))
	}
	if nodestate.Paused(pool) {
		message = fmt.Sprintf("The annotation %s pauses the deletion: the settings of the pool stay on %s until the annotation is removed", common.PausedAnnotation, nodes)
	}
	if c := meta.FindStatusCondition(*set.Conditions, nodesv1.NodePoolNodesUpdated); c != nil && c.Reason == nodesv1.ReasonNodeRefused {
		message += "; " + c.Message
	}
	set.False(nodesv1.NodePoolReady, common.ReasonDeleting, message)
}

func readyReason(status *nodesv1.NodePoolStatus) string {
	if status.NodeCount == 0 {
		return nodesv1.ReasonNoNodes
	}
	return nodesv1.ReasonAsWanted
}

func readyMessage(pool *nodesv1.NodePool) string {
	s := pool.Status
	if s.NodeCount == 0 {
		return fmt.Sprintf("No node belongs to the pool yet: %s", howToJoin(pool))
	}
	text := []string{fmt.Sprintf("%s up to date, %d ready", plural(int(s.NodeCount), "node"), s.ReadyNodes)}
	if s.CordonedNodes > 0 {
		text = append(text, fmt.Sprintf("%d cordoned", s.CordonedNodes))
	}
	if s.JoiningNodes > 0 {
		text = append(text, fmt.Sprintf("%d joining", s.JoiningNodes))
	}
	if s.LeavingNodes > 0 {
		text = append(text, fmt.Sprintf("%d leaving", s.LeavingNodes))
	}
	if c := meta.FindStatusCondition(s.Conditions, nodesv1.NodePoolRemediation); c != nil && c.Reason == nodesv1.ReasonNotEffective {
		text = append(text, "but see condition "+c.Type)
	}
	if nodestate.Paused(pool) {
		text = append(text, "and the annotation "+common.PausedAnnotation+" pauses later changes")
	}
	return strings.Join(text, ", ")
}

func howToJoin(pool *nodesv1.NodePool) string {
	if len(pool.Spec.NodeSelector) > 0 {
		return "no node has the labels in spec.nodeSelector (labels that pools set do not count), or the label " + pool.RoleLabel() + "="
	}
	return "label a node with " + pool.RoleLabel() + "="
}

func ready(status *nodesv1.NodePoolStatus) bool {
	for _, c := range status.Conditions {
		if c.Type == nodesv1.NodePoolReady {
			return c.Status == "True"
		}
	}
	return false
}
