// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strings"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

const (
	obstacleInterval = run.ObstacleInterval
	// mostAtOnce is the number of hosts that start in one step. It limits the length of status.fleet.starting.
	mostAtOnce = 50
)

func unapproved(in *Input) *Verdict {
	if in.Unapproved == "" {
		return nil
	}
	v := in.going(egov1.ReasonAwaitingApproval, in.Unapproved)
	return &v
}

func outsideWindow(in *Input) *Verdict {
	w := windowAt(in.Limits.Window, in.Now)
	if w.open {
		return nil
	}
	v := in.going(egov1.ReasonOutsideWindow, "the maintenance window opens at "+w.next.Format(time.RFC3339)+"; hosts start then")
	v.Again = max(time.Second, w.next.Sub(in.Now))
	return &v
}

// recorded creates the Activities of the hosts that the status records as starting, before other hosts may start. Drains
// take long, so other hosts start meanwhile.
func recorded(in *Input) *Verdict {
	if in.count((*Host).Unseen) == 0 || in.count((*Host).Draining) > 0 {
		return nil
	}
	v := in.going(egov1.ReasonRunning, in.progress())
	v.Create = true
	return &v
}

// soaking lets the canary hosts run for a while before other hosts start.
func soaking(in *Input) *Verdict {
	c := in.Limits.Canary
	if c == nil || in.count((*Host).begun) != min(int(c.Hosts), in.total()) || in.count((*Host).active) > 0 {
		return nil
	}
	until := in.lastEnd().Add(run.Seconds(c.SoakSeconds))
	left := until.Sub(in.Now)
	if left <= 0 {
		return nil
	}
	v := in.going(egov1.ReasonSoaking, "the command succeeded on the canary hosts; the other hosts start at "+until.UTC().Format(time.RFC3339))
	v.Again = left
	return &v
}

func (in *Input) lastEnd() time.Time {
	last := time.Time{}
	for _, h := range in.included() {
		if end := h.ended(); end.After(last) {
			last = end
		}
	}
	return last
}

// waveFull waits until the hosts of the canary or batch have ended.
func waveFull(in *Input) *Verdict {
	if in.count((*Host).begun) < in.wave() {
		return nil
	}
	v := in.going(egov1.ReasonRunning, in.progress())
	return &v
}

// onlyUnavailable starts hosts that are not available, once no other hosts are left. They use the budget already. Their
// Activities report what happens there.
func onlyUnavailable(in *Input) *Verdict {
	if in.count(startable) > 0 || in.count((*Host).active) > 0 || in.count(unheld) == 0 {
		return nil
	}
	return in.start(unheld, in.most())
}

// held waits for hosts that others work on, once no other hosts are left.
func held(in *Input) *Verdict {
	if in.count(startable) > 0 || in.count((*Host).active) > 0 {
		return nil
	}
	v := in.going(egov1.ReasonHeld, "others work on the nodes that are left: "+in.problems()+"; the run continues when they are schedulable again, and MachineConfig has changed them")
	return &v
}

// kept starts hosts whose nodes are still cordoned since the command failed there in an earlier run. They use the budget
// already.
func kept(in *Input) *Verdict {
	left := in.most() - in.count((*Host).active)
	if left <= 0 || in.count(cordonedBefore) == 0 {
		return nil
	}
	return in.start(cordonedBefore, left)
}

// budgetUsed waits until fewer hosts are unavailable.
func budgetUsed(in *Input) *Verdict {
	if in.free() > 0 {
		return nil
	}
	if in.count((*Host).active) > 0 {
		v := in.going(egov1.ReasonRunning, in.progress())
		return &v
	}
	v := in.going(egov1.ReasonBudgetUsed, fmt.Sprintf("maxUnavailable allows %s, and these are not available: %s; the run continues when they are, or cancel it, and raise spec.run with a higher maxUnavailable", hosts(in.most()), in.problems()))
	return &v
}

// next starts as many hosts as the budget and the wave allow.
func next(in *Input) *Verdict { return in.start(startable, in.free()) }

func (in *Input) start(which func(*Host) bool, limit int) *Verdict {
	limit = min(limit, in.wave()-in.count((*Host).begun), mostAtOnce)
	v := in.going(egov1.ReasonRunning, in.progress())
	for _, last := range []bool{false, true} {
		for _, h := range in.included() {
			if h.Last == last && which(h) && len(v.Start) < limit {
				v.Start = append(v.Start, h.Name)
			}
		}
	}
	return &v
}

// waiting reports whether the host has not started.
func waiting(h *Host) bool { return !h.begun() }

// unheld reports whether the host has not started, and others do not prevent it.
func unheld(h *Host) bool { return waiting(h) && !h.Held }

// cordonedBefore reports whether the host is available except for a cordon of this fleet.
func cordonedBefore(h *Host) bool { return startable(h) && h.Ours }

// startable reports whether the host has not started and is available.
func startable(h *Host) bool { return waiting(h) && h.Problem == "" }

// broken reports whether the host is unavailable although its command does not run. A command that has succeeded may
// have broken its host.
func broken(h *Host) bool { return !h.active() && h.why() != "" }

// free returns how many more hosts may become unavailable.
func (in *Input) free() int {
	return in.most() - in.count((*Host).active) - in.count(broken)
}

// progress describes a run that has not ended. Its numbers are in the status, so that the message changes rarely.
func (in *Input) progress() string {
	return fmt.Sprintf("the command runs on at most %s at a time, %s in all", hosts(in.most()), hosts(len(in.Hosts)))
}

// problems lists the first hosts that are not available, and why.
func (in *Input) problems() string {
	var out []string
	for i := range in.Hosts {
		if h := &in.Hosts[i]; broken(h) && len(out) < 5 {
			out = append(out, h.Name+" "+h.why())
		}
	}
	return strings.Join(out, ", ")
}
