// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(a *egov1.Activity, f facts, done kit.Outcome, now time.Time) {
	set := condition.Set{Conditions: &a.Status.Conditions, Generation: a.Generation, Now: now}
	switch {
	case a.DeletionTimestamp != nil:
		reportLeaving(set, done)
	case scheduled(a):
		reportSchedule(set, a, f, done)
	case a.Status.Run != run(a):
		openRun(set, a, now)
	default:
		r.reportRun(set, a, f, done, now)
	}
}

// reportLeaving reports an Activity that is being deleted.
func reportLeaving(set condition.Set, done kit.Outcome) {
	message := "its pod is being ended"
	if done.Err != nil {
		message += ": " + done.Err.Error()
	}
	set.False(egov1.ActivityReady, common.ReasonDeleting, message)
}

// reportLeft reports what an ended run has left and cannot be taken away.
func reportLeft(set condition.Set, done kit.Outcome) {
	if done.Err == nil {
		set.Remove(egov1.ActivityCleanedUp)
		return
	}
	set.False(egov1.ActivityCleanedUp, common.ReasonRefused, done.Err.Error())
}

// openRun writes down a run before anything of it is done.
func openRun(set condition.Set, a *egov1.Activity, now time.Time) {
	conditions := a.Status.Conditions
	a.Status = egov1.ActivityStatus{Prosta: egov1.StatePending, Run: run(a), RunSince: &metav1.Time{Time: now}, Conditions: conditions}
	for _, kind := range []string{egov1.ActivityPermitted, egov1.ActivitySucceeded} {
		set.Unknown(kind, common.ReasonPending, "It has not begun")
	}
	set.False(egov1.ActivityReady, common.ReasonApplying, "It is about to begin")
}

func (r *reconciler) reportRun(set condition.Set, a *egov1.Activity, f facts, done kit.Outcome, now time.Time) {
	if over(a) && !corrects(a, f) {
		reportLeft(set, done)
		return
	}
	v := judge(a, f, now)
	s := &a.Status
	s.Prosta = v.state
	if f.pod != nil {
		s.Pod, s.PodUID = f.pod.Name, string(f.pod.UID)
		reportTimes(s, f)
	}
	if v.result != nil {
		reportResult(s, *v.result)
	}
	if over(a) && s.EndedAt == nil {
		s.EndedAt = &metav1.Time{Time: now}
	}
	reportPermitted(set, f, v)
	reportEnd(set, v, done)
}

// reportTimes takes the runner's start for the command's until it tells better.
func reportTimes(s *egov1.ActivityStatus, f facts) {
	if running := status(f.pod).State.Running; running != nil && s.StartTime == nil {
		s.StartTime = running.StartedAt.DeepCopy()
	}
}

func reportResult(s *egov1.ActivityStatus, r hostjob.Result) {
	s.Signal, s.Output, s.OutputTruncated = r.Signal, r.Tail, r.Truncated
	if r.ExitCode != nil {
		code := int32(*r.ExitCode)
		s.ExitCode = &code
	}
	if !r.StartedAt.IsZero() {
		s.StartTime = &metav1.Time{Time: r.StartedAt}
	}
	if !r.EndedAt.IsZero() {
		s.FinishTime = &metav1.Time{Time: r.EndedAt}
	}
	if s.StartTime != nil && s.FinishTime != nil {
		s.Duration = r.EndedAt.Sub(r.StartedAt).Round(time.Millisecond).String()
	}
}

func reportPermitted(set condition.Set, f facts, v verdict) {
	switch {
	case v.state == egov1.StateRefused:
		set.False(egov1.ActivityPermitted, v.reason, v.message)
	case f.pod != nil || f.begin != nil && f.begin.obstacle == nil:
		set.True(egov1.ActivityPermitted, egov1.ReasonPermitted, "The requester may")
	}
}

// reportEnd says how the run ended, or what it waits for.
func reportEnd(set condition.Set, v verdict, done kit.Outcome) {
	switch v.state {
	case egov1.StateSucceeded:
		set.True(egov1.ActivitySucceeded, v.reason, v.message)
		set.True(egov1.ActivityReady, v.reason, v.message)
	case egov1.StatePending, egov1.StateRunning:
		set.Unknown(egov1.ActivitySucceeded, v.reason, v.message)
		reportOnItsWay(set, v, done)
	case egov1.StateUnknown:
		set.Unknown(egov1.ActivitySucceeded, v.reason, v.message)
		set.False(egov1.ActivityReady, v.reason, v.message)
	default:
		set.False(egov1.ActivitySucceeded, v.reason, v.message)
		set.False(egov1.ActivityReady, v.reason, v.message)
	}
}

func reportOnItsWay(set condition.Set, v verdict, done kit.Outcome) {
	if done.Err != nil {
		set.False(egov1.ActivityReady, common.ReasonRefused, done.Err.Error())
		return
	}
	if taken, ok := done.First(ensure.Taken); ok {
		set.False(egov1.ActivityReady, common.ReasonNameTaken, taken.Message)
		return
	}
	set.False(egov1.ActivityReady, v.reason, v.message)
}
