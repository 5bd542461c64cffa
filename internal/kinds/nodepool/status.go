// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// blockers are what stands in the way of Ready, the first that does being its cause.
var blockers = []condition.Blocker{
	condition.Unless(nodesv1.NodePoolRuntimeClassReady),
	condition.WhenTrue(nodesv1.NodePoolConflict),
	condition.Unless(nodesv1.NodePoolNodesUpdated),
	condition.WhenFalse(nodesv1.NodePoolHandlerAvailable),
}

// Report fills the status from the facts and from what was done.
func (r *poolReconciler) Report(pool *nodesv1.NodePool, f facts, done kit.Outcome, now time.Time) {
	status := &pool.Status
	count(status, f)
	conflicts := conflictsOf(pool.Name, f)
	status.Conflicts = slices.Clip(conflicts[:min(len(conflicts), maxConflicts)])
	set := condition.Set{Conditions: &status.Conditions, Generation: pool.Generation, Now: now}
	reportClass(set, pool, done)
	reportConflicts(set, conflicts)
	reportNodes(set, pool, f)
	reportHandler(set, pool, f)
	set.SumUp(blockers, readyReason(f), readyMessage(pool, f))
	reportFrozen(set, pool, f, done)
	reportDeletion(set, pool, f)
	status.Status = 503
	if ready(status) {
		status.Status = 200
	}
}

// count fills in the numbers.
func count(status *nodesv1.NodePoolStatus, f facts) {
	status.NodeCount, status.ReadyNodes, status.CordonedNodes, status.UpdatedNodes = 0, 0, 0, 0
	total := corev1.ResourceList{}
	for _, m := range f.nodes {
		if !m.belongs {
			continue
		}
		status.NodeCount++
		if nodeReady(m.node) {
			status.ReadyNodes++
		}
		if m.node.Spec.Unschedulable {
			status.CordonedNodes++
		}
		if len(changes(m.node, m.desired)) == 0 {
			status.UpdatedNodes++
		}
		for name, quantity := range m.node.Status.Allocatable {
			sum := total[name]
			sum.Add(quantity)
			total[name] = sum
		}
	}
	status.Allocatable = nil
	if len(total) > 0 {
		status.Allocatable = total
	}
}

func reportClass(set condition.Set, pool *nodesv1.NodePool, done kit.Outcome) {
	if done.Err == nil && done.Held > 0 && dryRun(pool) {
		set.False(nodesv1.NodePoolRuntimeClassReady, nodesv1.ReasonDryRun, "A change of the RuntimeClass is held back by annotation "+common.DryRunAnnotation)
		return
	}
	kit.ReportChildren(set, nodesv1.NodePoolRuntimeClassReady, done)
}

func reportConflicts(set condition.Set, conflicts []nodesv1.Conflict) {
	if len(conflicts) == 0 {
		set.False(nodesv1.NodePoolConflict, nodesv1.ReasonNoConflict, "Nobody else holds what the pool wants otherwise")
		return
	}
	reason := nodesv1.ReasonHeldByOthers
	if conflicts[0].Owner != "" {
		reason = nodesv1.ReasonHeldByPool
	}
	message := describe(conflicts[0])
	if more := len(conflicts) - 1; more > 0 {
		message += fmt.Sprintf("; and %s more in status.conflicts", plural(more, "conflict"))
	}
	set.True(nodesv1.NodePoolConflict, reason, message)
}

func reportNodes(set condition.Set, pool *nodesv1.NodePool, f facts) {
	const kind = nodesv1.NodePoolNodesUpdated
	var behind, refused, protected []string
	for _, m := range f.nodes {
		if _, ok := f.refusals[m.node.Name]; ok {
			refused = append(refused, m.node.Name)
		} else if m.belongs && len(changes(m.node, m.desired)) > 0 {
			behind = append(behind, m.node.Name)
		}
		if slices.ContainsFunc(m.desired.withheld, func(w withheld) bool { return w.pool == pool.Name }) {
			protected = append(protected, m.node.Name)
		}
	}
	slices.Sort(refused)
	switch {
	case len(refused) > 0:
		set.False(kind, nodesv1.ReasonNodeRefused, fmt.Sprintf("%s cannot be changed; %s: %s",
			countNodes(refused), refused[0], f.refusals[refused[0]]))
	case len(behind) > 0:
		set.False(kind, common.ReasonUpdating, countNodes(behind)+" being changed")
	case len(protected) > 0:
		set.False(kind, nodesv1.ReasonControlPlaneProtected, fmt.Sprintf(
			"NoExecute taints are withheld from %s of the control plane: set spec.allowNoExecuteOnControlPlane to evict what runs there", countNodes(protected)))
	default:
		set.True(kind, nodesv1.ReasonAsWanted, "Every node carries what the pool wants, conflicts apart")
	}
}

func reportHandler(set condition.Set, pool *nodesv1.NodePool, f facts) {
	const kind = nodesv1.NodePoolHandlerAvailable
	var missing, silent []string
	for _, m := range f.nodes {
		switch {
		case !m.belongs:
		case len(m.node.Status.RuntimeHandlers) == 0:
			silent = append(silent, m.node.Name)
		case !offers(m.node, pool.Handler()):
			missing = append(missing, m.node.Name)
		}
	}
	switch {
	case len(missing) > 0:
		set.False(kind, nodesv1.ReasonHandlerMissing, fmt.Sprintf("The runtime of %s has no handler %q: pods of the pool cannot start there", countNodes(missing), pool.Handler()))
	case len(silent) > 0:
		set.Unknown(kind, nodesv1.ReasonHandlerNotReported, "The runtime does not report its handlers on "+countNodes(silent))
	default:
		set.True(kind, nodesv1.ReasonHandlerOffered, fmt.Sprintf("Every node's runtime offers handler %q", pool.Handler()))
	}
}

// reportFrozen keeps a pool whose changes are held back from being called as wanted,
// and shows the changes of a dry run.
func reportFrozen(set condition.Set, pool *nodesv1.NodePool, f facts, done kit.Outcome) {
	pool.Status.Preview = nil
	if !frozen(pool) || pool.DeletionTimestamp != nil {
		return
	}
	p := preview(pool, f, done.Held > 0)
	if dryRun(pool) {
		pool.Status.Preview = p
	}
	if len(p.Changes) == 0 {
		return
	}
	if p.NodeCount > 0 {
		reason := common.ReasonPaused
		if dryRun(pool) {
			reason = nodesv1.ReasonDryRun
		}
		set.False(nodesv1.NodePoolNodesUpdated, reason, "Changes of "+plural(int(p.NodeCount), "node")+" are held back")
	}
	if !dryRun(pool) {
		set.False(nodesv1.NodePoolReady, common.ReasonPaused, fmt.Sprintf("Annotation %s: changes of %s are held back; first: %s",
			common.PausedAnnotation, plural(int(p.NodeCount), "node"), p.Changes[0]))
		return
	}
	message := fmt.Sprintf("Annotation %s: %s would change and %s be evicted, see status.preview; first: %s",
		common.DryRunAnnotation, plural(int(p.NodeCount), "node"), plural(int(p.EvictionCount), "pod"), p.Changes[0])
	set.False(nodesv1.NodePoolReady, nodesv1.ReasonDryRun, message)
}

// reportDeletion says how far the clean-up is, and what is in its way.
func reportDeletion(set condition.Set, pool *nodesv1.NodePool, f facts) {
	if pool.DeletionTimestamp == nil {
		return
	}
	nodes := plural(max(len(f.nodes), f.held), "node")
	message := "Taking what the pool put there off " + nodes
	if paused(pool) {
		message = fmt.Sprintf("Annotation %s: what the pool put on %s stays there until the annotation goes", common.PausedAnnotation, nodes)
	}
	if c := meta.FindStatusCondition(*set.Conditions, nodesv1.NodePoolNodesUpdated); c != nil && c.Reason == nodesv1.ReasonNodeRefused {
		message += "; " + c.Message
	}
	set.False(nodesv1.NodePoolReady, common.ReasonDeleting, message)
}

func readyReason(f facts) string {
	for _, m := range f.nodes {
		if m.belongs {
			return nodesv1.ReasonAsWanted
		}
	}
	return nodesv1.ReasonNoNodes
}

func readyMessage(pool *nodesv1.NodePool, f facts) string {
	s := pool.Status
	if readyReason(f) == nodesv1.ReasonNoNodes {
		return fmt.Sprintf("No node belongs to the pool yet: %s", howToJoin(pool))
	}
	text := []string{fmt.Sprintf("%s as wanted, %d ready", plural(int(s.NodeCount), "node"), s.ReadyNodes)}
	if s.CordonedNodes > 0 {
		text = append(text, fmt.Sprintf("%d cordoned", s.CordonedNodes))
	}
	return strings.Join(text, ", ")
}

func howToJoin(pool *nodesv1.NodePool) string {
	if len(pool.Spec.NodeSelector) > 0 {
		return "none has the labels of spec.nodeSelector (those that pools put there do not count), or " + pool.RoleLabel() + "="
	}
	return "label one with " + pool.RoleLabel() + "="
}

func ready(status *nodesv1.NodePoolStatus) bool {
	for _, c := range status.Conditions {
		if c.Type == nodesv1.NodePoolReady {
			return c.Status == "True"
		}
	}
	return false
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func offers(node *corev1.Node, handler string) bool {
	return slices.ContainsFunc(node.Status.RuntimeHandlers, func(h corev1.NodeRuntimeHandler) bool {
		return h.Name == handler
	})
}
