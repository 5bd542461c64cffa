// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

const (
	// Limits of the groups in the status.
	mostGroups, mostExamples, longestOutput, longestMessage = 16, 10, 512, 256
)

// outcome is what hosts of one group have in common.
type outcome struct {
	state          egov1.State
	reason, signal string
	exit           int32 // -1 if the command did not exit
	output         string
}

// Groups returns the results of the hosts, the most frequent first, and the number of hosts that are in none of the
// groups. If there are too many groups, those without success take precedence.
func Groups(all []Host) ([]egov1.OutcomeGroup, int32) {
	groups := map[outcome]*egov1.OutcomeGroup{}
	for i := range all {
		if h := &all[i]; h.over() && !h.Earlier {
			add(groups, h)
		}
	}
	var out []egov1.OutcomeGroup
	for _, g := range groups {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(x, y egov1.OutcomeGroup) int { return cmp.Or(succeeded(x)-succeeded(y), bySize(x, y)) })
	var others int32
	for len(out) > mostGroups {
		others += out[len(out)-1].Count
		out = out[:len(out)-1]
	}
	slices.SortFunc(out, bySize)
	return out, others
}

func succeeded(g egov1.OutcomeGroup) int {
	if g.State == egov1.StateSucceeded {
		return 1
	}
	return 0
}

func bySize(x, y egov1.OutcomeGroup) int {
	return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Hosts[0], y.Hosts[0]))
}

// add adds a host to the group of its outcome. Hosts come in the order of their names.
func add(groups map[outcome]*egov1.OutcomeGroup, h *Host) {
	o := outcomeOf(h)
	g := groups[o]
	if g == nil {
		g = &egov1.OutcomeGroup{State: o.state, Output: tail(o.output), Message: messageOf(h)}
		if o.exit >= 0 {
			g.ExitCode = &o.exit
		}
		groups[o] = g
	}
	g.Count++
	if len(g.Hosts) < mostExamples {
		g.Hosts = append(g.Hosts, h.Name)
	}
}

func outcomeOf(h *Host) outcome {
	o := outcome{state: h.State(), exit: -1}
	if h.Child == nil {
		o.reason = map[bool]string{true: egov1.ReasonDrainBlocked}[h.Message != ""]
		return o
	}
	s := h.Child.Status
	o.signal, o.output = s.Signal, s.Output
	if s.ExitCode != nil {
		o.exit = *s.ExitCode
	}
	if ready := meta.FindStatusCondition(s.Conditions, egov1.ActivityReady); ready != nil {
		o.reason = ready.Reason
	}
	return o
}

// messageOf returns why the run on a host did not succeed. A success needs no message.
func messageOf(h *Host) string {
	switch {
	case h.State() == egov1.StateSucceeded:
		return ""
	case h.Child == nil:
		return cmp.Or(condition.Cut(h.Message, longestMessage), "the Activity was deleted")
	}
	ready := meta.FindStatusCondition(h.Child.Status.Conditions, egov1.ActivityReady)
	if ready == nil {
		return ""
	}
	return condition.Cut(ready.Message, longestMessage)
}

// tail returns the end of an output.
func tail(output string) string {
	if len(output) <= longestOutput {
		return output
	}
	return strings.ToValidUTF8(output[len(output)-longestOutput:], "")
}
