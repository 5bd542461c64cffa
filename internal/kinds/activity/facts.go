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

// facts are all that is read about an Activity.
type facts struct {
	// pod is that of the present run, nil for none; former are those of earlier runs.
	pod    *corev1.Pod
	former []corev1.Pod
	// begin is what a run without a pod needs to start, nil if none should start.
	begin *run.Start
	// host is the state of the host, nil if it was not read.
	host *run.Host
	// hostAnswers is read only while the end of a pod is awaited.
	hostAnswers bool
	// secrets hold the values of secretEnvs of runs.
	secrets []corev1.Secret
	// children are the Activities that a schedule has created, and agenda is what is due.
	children   runs
	agenda     agenda
	agentImage string
}

// observed returns what the verdict on the run is based on.
func (f facts) observed() run.Observed { return run.Observed{Pod: f.pod, Begin: f.begin, Host: f.host} }

// runs are the Activities that a schedule has created.
type runs []egov1.Activity

// decision is what is known about a run, and the time of the decision.
type decision struct {
	verdict run.Verdict
	now     time.Time
}

// agenda is what a schedule requires at a given time.
type agenda struct {
	// wrong is why the schedule cannot be kept.
	wrong string
	// due is the latest time that has come and was not acted upon, zero for none; next is the following one.
	due, next time.Time
	// skip reports that a run is active and the next one must not join it.
	skip bool
	// waits are the active runs that the due run replaces; late reports that it has waited long for their end.
	waits []string
	late  bool
	// obstacle, if any, prevents the due run from being created.
	obstacle *run.Obstacle
}

// pods returns all pods that were created for an Activity.
func (f facts) pods() []corev1.Pod {
	if f.pod == nil {
		return f.former
	}
	return append([]corev1.Pod{*f.pod}, f.former...)
}

// hasValues reports whether the values of secretEnvs exist for the pod of the present run.
func (f facts) hasValues(a *egov1.Activity) bool {
	return slices.ContainsFunc(f.secrets, func(s corev1.Secret) bool { return s.Name == run.PodName(a, run.Number(a)) })
}
