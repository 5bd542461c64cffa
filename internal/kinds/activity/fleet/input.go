// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// Input is what the rules need to know about a fleet.
type Input struct {
	Limits egov1.FleetLimits
	Hosts  []Host
	Now    time.Time
	// Selection describes the selected hosts, for messages.
	Selection string
	// NoPool is true if no node is selected, because the NodePool in hosts.nodePool does not exist.
	NoPool    bool
	Cancelled bool
	// Lost is the number of Activities of this run that are gone without a trace.
	Lost int
	// Obstacle is what prevents the start of hosts, such as a missing policy; nil if nothing does.
	Obstacle *run.Obstacle
	// Drains is what is known about the nodes that are drained.
	Drains []Drain
	// Unapproved says why the run is not approved; empty if it is.
	Unapproved string
}

// Verdict is the state of a fleet, with its explanation and the next steps.
type Verdict struct {
	State           egov1.State
	Reason, Message string
	// Start are the hosts that the status must record as starting. Create is true if the hosts that it records may be
	// drained, and their Activities created.
	Start  []string
	Create bool
	// Drop is true if the hosts that the status records as starting must not start.
	Drop bool
	// Cancel is true if the active runs of single hosts must be cancelled.
	Cancel bool
	// Again is the time until the next check; 0 to wait for the next event.
	Again time.Duration
}

// included returns the hosts that belong to this run: all except those on which an earlier run succeeded.
func (in *Input) included() []*Host {
	var out []*Host
	for i := range in.Hosts {
		if !in.Hosts[i].Earlier {
			out = append(out, &in.Hosts[i])
		}
	}
	return out
}

func (in *Input) total() int { return len(in.included()) }

// count returns the number of hosts of this run for which a predicate is true.
func (in *Input) count(is func(*Host) bool) int {
	n := 0
	for _, h := range in.included() {
		if is(h) {
			n++
		}
	}
	return n
}

// going returns the verdict of a run that has not ended.
func (in *Input) going(reason, message string) Verdict {
	if in.count((*Host).begun) > 0 {
		return Verdict{State: egov1.StateRunning, Reason: reason, Message: message}
	}
	if reason == egov1.ReasonRunning {
		reason = egov1.ReasonWaiting
	}
	return Verdict{State: egov1.StatePending, Reason: reason, Message: message}
}

// commanded reports whether the command may be pending or running on the host, and not only its drain.
func commanded(h *Host) bool { return h.active() && !h.Draining() }

// ending returns the verdict of a run that starts no further host: it ends in a state when the active hosts have ended.
func (in *Input) ending(state egov1.State, reason, message string) *Verdict {
	v := Verdict{State: state, Reason: reason, Message: message, Drop: true}
	if active := in.count(commanded); active > 0 {
		v.State = egov1.StateRunning
		v.Message += "; the command is still running on " + hosts(active)
	}
	v.Message += in.cordons()
	return &v
}
