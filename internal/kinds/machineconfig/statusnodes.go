// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

// mostExamples is how many nodes are named in a text.
const mostExamples = 3

// maxMessage is the maximum length of a message in bytes; machine agents write a part of it.
const maxMessage = 1024

// reportNodes reports the nodes that failed.
func reportNodes(set condition.Set, d *decision) {
	const kind = mcfgv1.PoolNodeDegraded
	var texts []string
	reason := mcfgv1.ReasonNodeUnreconcilable
	for _, n := range slices.Concat(d.members, d.left) {
		if n.Phase != rollout.Failed && n.Phase != rollout.Refused {
			continue
		}
		if n.Phase == rollout.Failed {
			reason = mcfgv1.ReasonNodeFailed
		}
		texts = append(texts, fmt.Sprintf("Node %s %s: %s", n.Name, failure(d, n), why(d, n)))
	}
	if len(texts) == 0 {
		set.False(kind, mcfgv1.ReasonHealthy, "No node of the pool has failed")
		return
	}
	set.True(kind, reason, condition.Cut(joined(texts), maxMessage))
}

func failure(d *decision, n *rollout.Node) string {
	report := d.reports[n.Name]
	switch {
	case n.Phase == rollout.Refused:
		return "cannot have " + n.Desired
	case report.RevertedTo != "" && report.Config == n.Desired:
		return fmt.Sprintf("reverted %s to %s", n.Desired, report.RevertedTo)
	}
	return "could not apply " + n.Desired
}

// why returns what the machine agent reported.
func why(d *decision, n *rollout.Node) string {
	if message := d.reports[n.Name].Message; message != "" {
		return message
	}
	return "its machine agent gave no reason; read its log with journalctl -u opcrew-machine on the host"
}

// joined names the first texts, and counts the others.
func joined(texts []string) string {
	out := strings.Join(texts[:min(len(texts), mostExamples)], ". ")
	if more := len(texts) - mostExamples; more > 0 {
		out += fmt.Sprintf(". And %d more, see status.nodes", more)
	}
	return out
}

// passing are reasons to wait that pass by themselves, or that another condition reports.
var passing = []string{
	mcfgv1.ReasonUpdating, mcfgv1.ReasonSoaking, mcfgv1.ReasonPaused, mcfgv1.ReasonNodeFailed, mcfgv1.ReasonNodeUnreconcilable,
}

// reportBlocked reports the first node that time alone may not help.
func reportBlocked(set condition.Set, f facts, d *decision) {
	const kind = mcfgv1.PoolRolloutBlocked
	for _, v := range d.verdicts {
		if v.Action == rollout.Evict {
			if plan := f.drains[v.Node]; plan != nil && len(plan.Blocked) > 0 {
				b := plan.Blocked[0]
				set.True(kind, mcfgv1.ReasonDrainBlocked, condition.Cut(fmt.Sprintf("Node %s cannot be drained: pod %s: %s", v.Node, b.Pod, b.Message), maxMessage))
				return
			}
		}
		if v.Reason == "" || slices.Contains(passing, v.Reason) || v.Reason == mcfgv1.ReasonBudgetUsed && moving(d) {
			continue
		}
		set.True(kind, v.Reason, condition.Cut(fmt.Sprintf("Node %s does not change: %s", v.Node, v.Message), maxMessage))
		return
	}
	set.False(kind, mcfgv1.ReasonNotBlocked, "Each node that has to change can take its next step")
}

// moving reports whether a node of the pool is changing, so that it will leave its place in the budget.
func moving(d *decision) bool {
	return slices.ContainsFunc(d.members, func(n *rollout.Node) bool {
		return slices.Contains([]rollout.Phase{rollout.Ordered, rollout.WantsDrain, rollout.Working, rollout.WantsUncordon}, n.Phase)
	}) || slices.ContainsFunc(d.verdicts, func(v rollout.NodeVerdict) bool { return v.Action != "" || v.Reason == mcfgv1.ReasonSoaking })
}

func reportDrift(set condition.Set, d *decision) {
	var texts []string
	for _, n := range d.members {
		report := d.reports[n.Name]
		if len(report.Drift) > 0 && report.Config == n.Desired {
			texts = append(texts, fmt.Sprintf("Node %s: %s", n.Name, report.Drift[0]))
		}
	}
	if len(texts) == 0 {
		set.False(mcfgv1.PoolDrifted, mcfgv1.ReasonInSync, "No node of the pool differs from its configuration")
		return
	}
	set.True(mcfgv1.PoolDrifted, mcfgv1.ReasonDrift, condition.Cut(joined(texts), maxMessage))
}

// progress returns the nodes that are changing, have failed or must wait.
func progress(before []mcfgv1.NodeProgress, f facts, d *decision, now time.Time) []mcfgv1.NodeProgress {
	var out []mcfgv1.NodeProgress
	for _, v := range d.verdicts[:min(len(d.verdicts), mcfgv1.MaxNodes)] {
		entry := mcfgv1.NodeProgress{Name: v.Node, State: "Waiting", Message: condition.Cut(v.Message, maxMessage)}
		if n := d.node(v.Node); n != nil {
			describe(&entry, n, v, d)
		}
		if plan := f.drains[v.Node]; plan != nil {
			setBlockers(&entry, plan)
		}
		entry.Since = since(before, entry, now)
		out = append(out, entry)
	}
	return out
}

func describe(entry *mcfgv1.NodeProgress, n *rollout.Node, v rollout.NodeVerdict, d *decision) {
	entry.CurrentConfig, entry.DesiredConfig, entry.State = n.Current, n.Desired, stateOf(n, v)
	if n.Phase == rollout.Failed || n.Phase == rollout.Refused {
		entry.Message = condition.Cut(v.Message+" ("+why(d, n)+")", maxMessage)
	}
}

func stateOf(n *rollout.Node, v rollout.NodeVerdict) string {
	switch {
	case n.Phase == rollout.Failed || v.Reason == mcfgv1.ReasonUnhealthy:
		return "Failed"
	case n.Phase == rollout.Refused:
		return "Unreconcilable"
	case n.Phase == rollout.WantsDrain:
		return "Draining"
	case n.Phase != rollout.Idle || v.Action == rollout.Order:
		return "Working"
	case v.Reason == mcfgv1.ReasonSoaking:
		return "Soaking"
	}
	return "Waiting"
}

func setBlockers(entry *mcfgv1.NodeProgress, plan *drain.Plan) {
	entry.BlockerCount = int32(len(plan.Blocked))
	for _, b := range plan.Blocked[:min(len(plan.Blocked), mcfgv1.MaxBlockers)] {
		entry.Blockers = append(entry.Blockers, mcfgv1.Blocker{Pod: b.String(), PodDisruptionBudget: b.Budget, Message: condition.Cut(b.Message, maxMessage)})
	}
}

// since returns when a node entered its state: the recorded time if the state is the same, and otherwise now.
func since(before []mcfgv1.NodeProgress, entry mcfgv1.NodeProgress, now time.Time) *metav1.Time {
	for _, old := range before {
		if old.Name == entry.Name && old.State == entry.State && old.DesiredConfig == entry.DesiredConfig && old.Since != nil {
			return old.Since
		}
	}
	at := metav1.NewTime(now.Truncate(time.Second))
	return &at
}
