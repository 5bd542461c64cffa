// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

// Drain is what is known about a node that is drained for the current run.
type Drain struct {
	Host string
	// Node is the node; nil if there is none. Alone is true if it is the only one of the cluster.
	Node  *corev1.Node
	Alone bool
	// Held says why the drain waits, such as "is being changed by MachineConfig"; empty if it does not. Unseen is true if
	// the cache does not show the operator's last write of the node.
	Held   string
	Unseen bool
	// Plan is what to do about its pods; nil if it is not cordoned yet.
	Plan *drain.Plan
	// Refused says why the requester may not drain it; nil if that was not found.
	Refused *run.Obstacle
}

// Step is the next step for a node that is drained.
type Step string

// Values of Step.
const (
	// Wait for those who work on the node.
	Wait Step = "Wait"
	// CordonNode makes the node unschedulable, and records which run did it.
	CordonNode Step = "Cordon"
	// Evict evicts pods, or waits until they have ended.
	Evict Step = "Evict"
	// Begin creates the Activity of the host.
	Begin Step = "Begin"
)

// DrainStep returns the next step for the node of a host. The only node of a cluster is not drained, because its pods
// could not run elsewhere. If there is no node, the Activity of the host reports it.
func DrainStep(a *egov1.Activity, d Drain) Step {
	switch {
	case d.Node == nil || d.Alone:
		return Begin
	case d.Held != "" || d.Unseen || claims.ByMachineConfig(d.Node) || d.Node.Spec.Unschedulable && !Owns(a, d.Node):
		return Wait
	case !Cordoned(a, d.Node):
		return CordonNode
	case d.Plan == nil || !d.Plan.Done():
		return Evict
	}
	return Begin
}

// Cordoned reports whether the current run of a fleet has cordoned a node.
func Cordoned(a *egov1.Activity, node *corev1.Node) bool {
	return node.Spec.Unschedulable && Owns(a, node) && claims.CordonOf(node).Run == run.Number(a)
}

// Overdue returns why the drain of a node has failed; nil if it has not.
func Overdue(a *egov1.Activity, d Drain, now time.Time) *run.Obstacle {
	if d.Refused != nil {
		return d.Refused
	}
	limit := run.Seconds(ptr.Deref(a.Spec.Hosts.Drain.TimeoutSeconds, egov1.DefaultDrainTimeout))
	if DrainStep(a, d) != Evict || now.Before(claims.CordonOf(d.Node).At.Add(limit)) {
		return nil
	}
	message := fmt.Sprintf("the node was not drained within %s, so the command did not run", limit)
	if d.Plan != nil {
		message += ": " + blockers(d.Plan)
	}
	return &run.Obstacle{Final: true, Reason: egov1.ReasonTimedOut, Message: message}
}

// Fail records in a host that its drain has failed.
func (h *Host) Fail(why *run.Obstacle) {
	h.Removed, h.Message = egov1.StateTimedOut, why.Message
	if why.Reason == egov1.ReasonForbidden {
		h.Removed = egov1.StateRefused
	}
}

// mostBlockers is how many pods or nodes a message names.
const mostBlockers = 3

// blockers names the first pods that keep a node from being drained.
func blockers(p *drain.Plan) string {
	var out []string
	for _, b := range p.Blocked {
		out = append(out, fmt.Sprintf("pod %s: %s", b.Pod, b.Message))
	}
	for _, pod := range p.Ending {
		out = append(out, fmt.Sprintf("pod %s has not ended yet", pod))
	}
	if len(out) == 0 {
		return fmt.Sprintf("%d pods are left", len(p.Evict)+p.Later)
	}
	if more := len(out) - mostBlockers; more > 0 {
		out = append(out[:mostBlockers], fmt.Sprintf("%d more pods", more))
	}
	return strings.Join(out, "; ")
}

// RecordDrains adds the failed drains to the status, so that the command does not run there in the same run.
func RecordDrains(a *egov1.Activity, all []Host) {
	s := a.Status.Fleet
	for i := range all {
		h := &all[i]
		is := func(r egov1.RemovedRun) bool { return r.Host == h.Name && r.Run == run.Number(a) }
		if h.Child == nil && h.Message != "" && !slices.ContainsFunc(s.Removed, is) {
			s.Removed = append(s.Removed, egov1.RemovedRun{Host: h.Name, Run: run.Number(a), State: h.Removed, Message: condition.Cut(h.Message, longestMessage)})
		}
	}
}
