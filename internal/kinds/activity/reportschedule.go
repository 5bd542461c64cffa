// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func reportSchedule(set condition.Set, a *egov1.Activity, atWork runs, g agenda, done kit.Outcome) {
	s := &a.Status
	s.Active, s.NextScheduleTime = nil, nil
	for _, c := range atWork {
		s.Active = append(s.Active, c.Name)
	}
	slices.Sort(s.Active)
	set.Remove(egov1.ActivitySucceeded)
	set.True(egov1.ActivityPermitted, egov1.ReasonPermitted, "opcrew checks the rights of the requester when each run starts")
	state, reason, message := kept(a, g, done)
	s.Prosta = state
	if reason == egov1.ReasonScheduled {
		s.NextScheduleTime = &metav1.Time{Time: g.next}
		if !g.due.IsZero() && len(g.waits) == 0 {
			s.LastScheduleTime = &metav1.Time{Time: g.due}
		}
	}
	for _, kind := range []string{egov1.ActivityScheduleKept, egov1.ActivityReady} {
		if reason == egov1.ReasonScheduled {
			set.True(kind, reason, message)
		} else {
			set.False(kind, reason, message)
		}
	}
}

// kept returns the state of a schedule, and the reason and message that say whether its runs are created on time. A run
// that could not be created does not make the schedule Failed, because opcrew retries until the next run is due.
func kept(a *egov1.Activity, g agenda, done kit.Outcome) (state egov1.State, reason, message string) {
	taken, isTaken := done.First(ensure.Taken, ensure.Contested)
	switch {
	case g.wrong != "":
		return egov1.StateFailed, egov1.ReasonBadSchedule, g.wrong
	case idle(a):
		return egov1.StateSuspended, egov1.ReasonSuspended, "the schedule is suspended or cancelled, so it creates no further runs"
	case g.obstacle != nil:
		return egov1.StateScheduled, g.obstacle.Reason, g.obstacle.Message
	case done.Err != nil:
		return egov1.StateScheduled, common.ReasonRefused, done.Err.Error()
	case isTaken:
		return egov1.StateScheduled, common.ReasonNameTaken, taken.Message
	case done.Held > 0:
		return egov1.StateScheduled, common.ReasonPaused, "the run due at " + g.due.Format(time.RFC3339) + " is held back, because the Activity is paused"
	case len(g.waits) > 0 && g.late:
		return egov1.StateScheduled, egov1.ReasonWaiting, g.waiting()
	case len(g.waits) > 0:
		return egov1.StateScheduled, egov1.ReasonScheduled, g.waiting()
	}
	return egov1.StateScheduled, egov1.ReasonScheduled, "the next run starts at " + g.next.Format(time.RFC3339)
}

// waiting describes the active runs for which the due run waits.
func (g agenda) waiting() string {
	return "the run due at " + g.due.Format(time.RFC3339) + " waits for the end of the previous run (" + strings.Join(g.waits, ", ") + "), which opcrew is cancelling"
}
