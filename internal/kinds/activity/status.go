// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// Report fills in the status from the facts and the outcome of the plan.
func (r *reconciler) Report(a *egov1.Activity, f facts, d decision, done kit.Outcome) {
	set := condition.Set{Conditions: &a.Status.Conditions, Generation: a.Generation, Now: done.Now}
	switch {
	case a.DeletionTimestamp != nil:
		reportLeaving(set, done)
	case fleet.Is(a):
		reportFleet(set, a, f.fleet, d.fleet, done)
	case run.Scheduled(a):
		reportSchedule(set, a, f.children.atWork(), f.agenda, done)
	case a.Status.Run != run.Number(a):
		openRun(set, a, done.Now)
	default:
		reportRun(set, a, f.observed(), d.verdict, done)
	}
}

// reportLeaving sets the conditions of an Activity that is being deleted.
func reportLeaving(set condition.Set, done kit.Outcome) {
	message := "opcrew is ending the pod"
	if done.Err != nil {
		message += ": " + done.Err.Error()
	}
	set.False(egov1.ActivityReady, common.ReasonDeleting, message)
}

// reportLeft reports that objects of an ended run could not be removed.
func reportLeft(set condition.Set, done kit.Outcome) {
	if done.Err == nil {
		set.Remove(egov1.ActivityCleanedUp)
		return
	}
	set.False(egov1.ActivityCleanedUp, common.ReasonRefused, done.Err.Error())
}

// openRun records a new run of an Activity in the status, before its pod is created.
func openRun(set condition.Set, a *egov1.Activity, now time.Time) {
	conditions := a.Status.Conditions
	a.Status = egov1.ActivityStatus{Prosta: egov1.StatePending, Run: run.Number(a), RunSince: &metav1.Time{Time: now}, Conditions: conditions}
	for _, kind := range []string{egov1.ActivityPermitted, egov1.ActivitySucceeded} {
		set.Unknown(kind, common.ReasonPending, "The run has not started yet")
	}
	set.False(egov1.ActivityReady, common.ReasonApplying, "opcrew is about to start the run")
}

func reportRun(set condition.Set, a *egov1.Activity, f run.Observed, v run.Verdict, done kit.Outcome) {
	if run.Over(a) && !run.Corrects(a, f.Pod) {
		reportLeft(set, done)
		return
	}
	s := &a.Status
	s.Prosta = v.State
	if f.Pod != nil {
		s.Pod, s.PodUID = f.Pod.Name, string(f.Pod.UID)
		reportTimes(s, f.Pod)
	}
	if v.Result != nil {
		reportResult(s, *v.Result)
	}
	if run.Over(a) && s.EndedAt == nil {
		s.EndedAt = &metav1.Time{Time: done.Now}
	}
	reportPermitted(set, f.Pod != nil || f.Begin != nil && f.Begin.Obstacle == nil, v)
	reportEnd(set, v, done)
}

// reportTimes sets the start time of the command to that of the container, until the agent in the pod reports the exact
// time.
func reportTimes(s *egov1.ActivityStatus, pod *corev1.Pod) {
	if running := run.ContainerStatus(pod).State.Running; running != nil && s.StartTime == nil {
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

func reportPermitted(set condition.Set, permitted bool, v run.Verdict) {
	switch {
	case v.State == egov1.StateRefused:
		set.False(egov1.ActivityPermitted, v.Reason, v.Message)
	case permitted:
		set.True(egov1.ActivityPermitted, egov1.ReasonPermitted, "The requester has the required rights")
	}
}

// reportEnd reports how the run of an Activity ended, or what it is waiting for.
func reportEnd(set condition.Set, v run.Verdict, done kit.Outcome) {
	switch v.State {
	case egov1.StateSucceeded:
		set.True(egov1.ActivitySucceeded, v.Reason, v.Message)
		set.True(egov1.ActivityReady, v.Reason, v.Message)
	case egov1.StatePending, egov1.StateRunning:
		set.Unknown(egov1.ActivitySucceeded, v.Reason, v.Message)
		reportOnItsWay(set, v, done)
	case egov1.StateUnknown:
		set.Unknown(egov1.ActivitySucceeded, v.Reason, v.Message)
		set.False(egov1.ActivityReady, v.Reason, v.Message)
	default:
		set.False(egov1.ActivitySucceeded, v.Reason, v.Message)
		set.False(egov1.ActivityReady, v.Reason, v.Message)
	}
}

func reportOnItsWay(set condition.Set, v run.Verdict, done kit.Outcome) {
	if done.Err != nil {
		set.False(egov1.ActivityReady, common.ReasonRefused, done.Err.Error())
		return
	}
	if taken, ok := done.First(ensure.Taken); ok {
		set.False(egov1.ActivityReady, common.ReasonNameTaken, taken.Message)
		return
	}
	set.False(egov1.ActivityReady, v.Reason, v.Message)
}
