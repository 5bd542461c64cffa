// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// action is what the events of a remediation are about.
const action = "Remediate"

// phaseOrder is the order of phases in the status: what needs a user comes first.
var phaseOrder = []nodesv1.RemediationPhase{
	nodesv1.RemediationFailed, nodesv1.RemediationFencing, nodesv1.RemediationVerifying, nodesv1.RemediationWaiting, nodesv1.RemediationFenced,
}

// Status returns the part of the status about nodes that are not Ready.
func (d Decision) Status() nodesv1.RemediationStatus {
	s := nodesv1.RemediationStatus{RemediatingNodes: int32(d.left)}
	for _, v := range d.verdicts {
		if v.Record == nil {
			continue
		}
		r := *v.Record
		r.Message = condition.Cut(r.Message, 4*nodestate.MaxValue)
		s.Remediation = append(s.Remediation, r)
		if r.Phase == nodesv1.RemediationFenced {
			s.FencedNodes++
		} else {
			s.RemediatingNodes++
		}
	}
	slices.SortStableFunc(s.Remediation, func(a, b nodesv1.NodeRemediation) int {
		return cmp.Or(slices.Index(phaseOrder, a.Phase)-slices.Index(phaseOrder, b.Phase), cmp.Compare(a.Node, b.Node))
	})
	return s
}

// Report sets the condition about the remediation from the status and the verdicts. A node for which nothing can be done
// comes first, and then what the remediation lacks.
func (d Decision) Report(set condition.Set, records []nodesv1.NodeRemediation) {
	const kind = nodesv1.NodePoolRemediation
	at := slices.IndexFunc(d.verdicts, func(v *Verdict) bool { return v.Held != nil })
	switch {
	case len(records) > 0 && records[0].Phase == nodesv1.RemediationFailed:
		set.False(kind, nodesv1.ReasonRemediationFailed, "Node "+records[0].Node+": "+records[0].Message)
	case at >= 0:
		set.False(kind, d.verdicts[at].Held.Reason, "Node "+d.verdicts[at].Record.Node+": "+d.verdicts[at].Held.Message)
	case d.hindrances != "":
		set.False(kind, nodesv1.ReasonNotEffective, strings.Join(slices.DeleteFunc([]string{d.hindrances, describe(records)}, func(s string) bool { return s == "" }), ". "))
	case len(records) == 0:
		set.True(kind, nodesv1.ReasonNoDeadNodes, "Every node is Ready, so no machine is fenced")
	default:
		set.True(kind, nodesv1.ReasonRemediating, describe(records))
	}
}

// describe names the nodes by phase.
func describe(records []nodesv1.NodeRemediation) string {
	var text []string
	for _, phase := range phaseOrder {
		var names []string
		for _, r := range records {
			if r.Phase == phase {
				names = append(names, r.Node)
			}
		}
		if len(names) > 0 {
			text = append(text, fmt.Sprintf("%s: %s", phase, strings.Join(names, ", ")))
		}
	}
	return strings.Join(text, "; ")
}

// Events returns the events for changes of the remediation. Events on the nodes show their taints.
func Events(before, after *nodesv1.NodePool) []kit.Event {
	events := warning(before, after)
	for _, r := range after.Status.Remediation {
		old := nodesv1.NodeRemediation{}
		if i := slices.IndexFunc(before.Status.Remediation, func(o nodesv1.NodeRemediation) bool { return o.UID == r.UID && o.Since.Equal(&r.Since) }); i >= 0 {
			old = before.Status.Remediation[i]
		}
		if e, ok := eventOf(old, r); ok {
			events = append(events, e)
		}
	}
	return events
}

// warning returns an event if the remediation no longer has an effect, so that a user learns it before a machine is dead.
func warning(before, after *nodesv1.NodePool) []kit.Event {
	is := meta.FindStatusCondition(after.Status.Conditions, nodesv1.NodePoolRemediation)
	was := meta.FindStatusCondition(before.Status.Conditions, nodesv1.NodePoolRemediation)
	if is == nil || is.Reason != nodesv1.ReasonNotEffective || was != nil && was.Reason == is.Reason {
		return nil
	}
	return []kit.Event{{Warning: true, Reason: "RemediationNotEffective", Action: action, Note: condition.Cut(is.Message, 1000)}}
}

func eventOf(old, now nodesv1.NodeRemediation) (kit.Event, bool) {
	switch {
	case now.Phase == nodesv1.RemediationFailed && old.Phase != now.Phase:
		return kit.Event{Warning: true, Reason: "RemediationFailed", Action: action, Note: "Node " + now.Node + ": " + now.Message}, true
	case now.AttemptFailedAt != nil && old.AttemptFailedAt == nil:
		return kit.Event{Warning: true, Reason: "FenceAttemptFailed", Action: action, Note: fmt.Sprintf("Attempt %d for node %s failed: %s", now.Attempt, now.Node, now.Message)}, true
	case now.Phase == nodesv1.RemediationFenced && old.Phase != now.Phase:
		return kit.Event{Warning: true, Reason: "MachineFenced", Action: action, Note: fmt.Sprintf("There is evidence that the machine of node %s is off, after attempt %d", now.Node, now.Attempt)}, true
	case now.Phase == nodesv1.RemediationFencing && (old.Phase != now.Phase || old.Attempt != now.Attempt):
		return kit.Event{Warning: true, Reason: "FencingMachine", Action: action, Note: fmt.Sprintf("opcrew fences the machine of node %s, attempt %d", now.Node, now.Attempt)}, true
	}
	return kit.Event{}, false
}

// Records reports whether the status has a new record of the remediation, on which later steps depend.
func Records(before, after *nodesv1.NodePool) bool {
	return !slices.EqualFunc(before.Status.Remediation, after.Status.Remediation, func(a, b nodesv1.NodeRemediation) bool {
		return a.UID == b.UID && a.Phase == b.Phase && a.Attempt == b.Attempt && (a.AttemptFailedAt == nil) == (b.AttemptFailedAt == nil) &&
			slices.Equal(a.Activities, b.Activities)
	})
}
