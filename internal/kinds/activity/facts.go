// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
)

// reconciler is keyed by an Activity.
type reconciler struct {
	*kit.Tools
}

// facts holds all that is read about an Activity.
type facts struct {
	// pod is the pod of the current run; nil if there is none. former has the pods of earlier runs.
	pod    *corev1.Pod
	former []corev1.Pod
	// begin is what a run without a pod needs to start; nil if no run should start.
	begin *run.Start
	// host is the state of the host; nil if it was not read.
	host *run.Host
	// hostAnswers is set only while waiting for the end of a pod.
	hostAnswers bool
	// secrets hold the values of secretEnvs for runs.
	secrets []corev1.Secret
	// children are the Activities that a schedule has created; agenda is what is due.
	children   runs
	agenda     agenda
	agentImage string
}

// observed returns the input for the verdict on the run.
func (f facts) observed() run.Observed { return run.Observed{Pod: f.pod, Begin: f.begin, Host: f.host} }

// runs are the Activities that a schedule has created.
type runs []egov1.Activity

// decision holds what is known about a run, and the time of the decision.
type decision struct {
	verdict run.Verdict
	now     time.Time
}

// agenda holds what a schedule requires at a given time.
type agenda struct {
	// wrong explains why the schedule cannot be kept.
	wrong string
	// due is the latest time that has come and was not acted on; zero if there is none. next is the time after it.
	due, next time.Time
	// skip is true if a run is active and the next one must not run at the same time.
	skip bool
	// waits names the active runs that the due run replaces. late is true if it has waited for their end for long.
	waits []string
	late  bool
	// obstacle is what prevents the due run from being created; nil if nothing does.
	obstacle *run.Obstacle
}

// pods returns all pods that were created for an Activity.
func (f facts) pods() []corev1.Pod {
	if f.pod == nil {
		return f.former
	}
	return append([]corev1.Pod{*f.pod}, f.former...)
}

// hasValues reports whether the values of secretEnvs exist for the pod of the current run.
func (f facts) hasValues(a *egov1.Activity) bool {
	return slices.ContainsFunc(f.secrets, func(s corev1.Secret) bool { return s.Name == run.PodName(a, run.Number(a)) })
}
