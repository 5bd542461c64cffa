// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// drainPoll is the time between two looks at the pods of nodes that are drained.
const drainPoll = 2 * time.Second

// draining lets drains continue beside what else the run does, and reports what they wait for.
func (in *Input) draining(v Verdict) Verdict {
	if in.count((*Host).Draining) == 0 {
		return v
	}
	v.Create = true
	reason, message := in.drainReport()
	if message != "" && (v.Reason == egov1.ReasonRunning || v.Reason == egov1.ReasonWaiting) {
		v.Reason, v.Message = reason, message
	}
	for _, d := range in.Drains {
		if d.Plan != nil && !d.Plan.Done() && (v.Again == 0 || v.Again > drainPoll) {
			v.Again = drainPoll
		}
	}
	return v
}

// drainReport says which nodes are drained. It names the pods that block first.
func (in *Input) drainReport() (reason, message string) {
	reason = egov1.ReasonDraining
	var blocked, others []string
	for _, d := range in.Drains {
		switch {
		case d.Plan != nil && len(d.Plan.Blocked) > 0:
			reason = egov1.ReasonDrainBlocked
			blocked = append(blocked, fmt.Sprintf("node %s cannot be drained yet: %s", d.Host, blockers(d.Plan)))
		case d.Held != "":
			others = append(others, fmt.Sprintf("node %s %s: it is drained when it is schedulable again", d.Host, d.Held))
		case d.Plan != nil && !d.Plan.Done():
			others = append(others, fmt.Sprintf("node %s is drained before the command runs there", d.Host))
		}
	}
	all := slices.Concat(blocked, others)
	if more := len(all) - mostBlockers; more > 0 {
		all = append(all[:mostBlockers], fmt.Sprintf("%d more nodes", more))
	}
	return reason, strings.Join(all, "; ")
}

// cordons says which nodes of failed hosts stay cordoned, as a clause to append.
func (in *Input) cordons() string {
	var names []string
	for _, h := range in.included() {
		if h.Ours && h.over() && h.keepsCordon() {
			names = append(names, h.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - mostBlockers; more > 0 {
		names = append(names[:mostBlockers], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("; opcrew keeps these nodes cordoned: %s; repair them, then raise spec.run, or kubectl uncordon them", strings.Join(names, ", "))
}
