// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// Open returns the status of a fleet at the beginning of a run: it keeps the successes of earlier runs that count.
func Open(a *egov1.Activity) *egov1.FleetStatus {
	s := &egov1.FleetStatus{Since: Since(a)}
	if a.Spec.Hosts.Rerun == egov1.RerunAll {
		s.Since = run.Number(a)
	}
	if a.Status.Fleet != nil {
		s.Removed = slices.DeleteFunc(slices.Clone(a.Status.Fleet.Removed), func(r egov1.RemovedRun) bool {
			return r.Run < s.Since || r.Run < run.Number(a) && r.State != egov1.StateSucceeded
		})
	}
	return s
}

// Count sets the numbers and groups of the status from the hosts. The number of started hosts never decreases in a run.
func Count(s *egov1.FleetStatus, all []Host) {
	s.NotStarted, s.Pending, s.Running, s.Succeeded, s.Failed = 0, 0, 0, 0, 0
	s.Hosts, s.Started = int32(len(all)), max(s.Started, known(all))
	for i := range all {
		h := &all[i]
		switch {
		case h.Earlier || h.State() == egov1.StateSucceeded:
			s.Succeeded++
		case h.State() == egov1.StateRunning:
			s.Running++
		case h.State() == egov1.StatePending:
			s.Pending++
		case h.begun():
			s.Failed++
		default:
			s.NotStarted++
		}
	}
	s.Groups, s.OtherHosts = Groups(all)
}

// Lost returns how many Activities of the current run are gone although the status has counted them.
func Lost(a *egov1.Activity, all []Host) int {
	if a.Status.Fleet == nil || a.Status.Run != run.Number(a) {
		return 0
	}
	return max(0, int(a.Status.Fleet.Started-known(all)))
}

// known returns the number of hosts that have an Activity in the current run, or a record of it.
func known(all []Host) int32 {
	var n int32
	for i := range all {
		if all[i].result() != "" {
			n++
		}
	}
	return n
}

// Next returns the hosts to record as starting: those of the verdict, and those that are recorded and not yet known to
// have started.
func Next(v Verdict, all []Host) []string {
	out := slices.Clone(v.Start)
	for i := range all {
		if all[i].Unseen() && !v.Drop {
			out = append(out, all[i].Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Remember adds the children that are being deleted to the status, so that their hosts do not run the command again in
// the same run.
func Remember(a *egov1.Activity, children []*egov1.Activity) {
	s := a.Status.Fleet
	for _, child := range children {
		number, ok := RunOf(a.Name, child)
		if !ok || child.DeletionTimestamp == nil || number < s.Since || Remembers(a, child) {
			continue
		}
		state := egov1.StateCancelled
		if run.Over(child) {
			state = child.Status.Prosta
		}
		s.Removed = append(s.Removed, egov1.RemovedRun{Host: child.Spec.Host, Run: number, State: state})
	}
}

// Remembers reports whether the status of a fleet records the deletion of a child, or need not record it, because no
// decision depends on it any more.
func Remembers(a *egov1.Activity, child *egov1.Activity) bool {
	number, ok := RunOf(a.Name, child)
	if !ok {
		return true
	}
	if a.Status.Fleet == nil {
		return false
	}
	return number < a.Status.Fleet.Since || slices.ContainsFunc(a.Status.Fleet.Removed, func(r egov1.RemovedRun) bool {
		return r.Host == child.Spec.Host && r.Run == number
	})
}
