// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/evict"
)

// reconciler reconciles Activities.
type reconciler struct {
	*kit.Tools
	// refused has the last refusals of evictions by node.
	refused evict.Refusals
}

// facts holds everything that is read about an Activity.
type facts struct {
	// pod is the pod of the current run of an Activity; nil if there is none. former holds the pods of earlier runs.
	pod    *corev1.Pod
	former []corev1.Pod
	// begin is what a run of an Activity needs to start its pod; nil if no run should start.
	begin *run.Start
	// host is the state of the host; nil if it was not read.
	host *run.Host
	// hostAnswers reports whether the host of a deleted Activity is Ready. It is only read for a deleted Activity.
	hostAnswers bool
	// secrets are the Secrets in the namespace of the pods with the values of spec.secretEnvs.
	secrets []corev1.Secret
	// children are the Activities that a schedule has created. agenda says which run of the schedule is due now, and
	// what prevents it.
	children   runs
	agenda     agenda
	agentImage string
	// fleet is what was read about an Activity on several hosts.
	fleet fleetFacts
	// unrecorded is true if the fleet of this deleted Activity has not recorded the deletion yet.
	unrecorded bool
}

// observed returns the facts from which the state of the current run of an Activity is determined.
func (f facts) observed() run.Observed { return run.Observed{Pod: f.pod, Begin: f.begin, Host: f.host} }

// runs is a list of Activities that a schedule has created.
type runs []egov1.Activity

// decision holds the state of the current run of an Activity and the time of the decision.
type decision struct {
	verdict run.Verdict
	now     time.Time
	// fleet is the state of an Activity on several hosts.
	fleet fleet.Verdict
}

// agenda says which run of a schedule is due at a given time, and what prevents it.
type agenda struct {
	// wrong explains why the schedule is invalid; empty if it is valid.
	wrong string
	// due is the latest time of the schedule that has passed without a run; zero if there is none. next is the next
	// time in the future.
	due, next time.Time
	// skip is true if a run of an Activity is active and the policy forbids a concurrent run.
	skip bool
	// waits names the active runs that must end before the due run replaces them. late is true if they still run one
	// minute (waitsLong) after the due time.
	waits []string
	late  bool
	// obstacle is what prevents the creation of the due run; nil if nothing prevents it.
	obstacle *run.Obstacle
}

// pods returns the pods of all runs of an Activity.
func (f facts) pods() []corev1.Pod {
	if f.pod == nil {
		return f.former
	}
	return append([]corev1.Pod{*f.pod}, f.former...)
}

// hasValues reports whether the Secret with the values of spec.secretEnvs exists for the current run of an Activity.
func (f facts) hasValues(a *egov1.Activity) bool {
	return slices.ContainsFunc(f.secrets, func(s corev1.Secret) bool { return s.Name == run.PodName(a, run.Number(a)) })
}

// fleetFacts is what was read about a fleet. Its objects belong to the cache, so they must not be changed.
type fleetFacts struct {
	children []*egov1.Activity
	hosts    []fleet.Host
	// obstacle is what prevents the creation of Activities; nil if nothing does, or if none is to be created. fresh is
	// true if the API server has the same version of the fleet as the cache.
	obstacle *run.Obstacle
	fresh    bool
	// noPool is true if no node is selected, and the NodePool in hosts.nodePool does not exist.
	noPool bool
	// drains are the nodes that are drained, and cordoned those that have the record of a cordon by this fleet.
	drains   []fleet.Drain
	cordoned []*corev1.Node
	// unseen are nodes whose last write by the operator the cache does not show.
	unseen map[string]bool
}
