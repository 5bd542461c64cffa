// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ActivityStatus is what became of the command.
type ActivityStatus struct {
	// prosta is the state of the process.
	// +optional
	Prosta State `json:"prosta,omitempty"`

	// run is the number of the run that this status is about.
	// +optional
	Run int64 `json:"run,omitempty"`

	// runSince is when the run was written down; its start deadline counts from it.
	// +optional
	RunSince *metav1.Time `json:"runSince,omitempty"`

	// exitCode of the command, if it ended by itself.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// signal that ended it, such as SIGKILL.
	// +optional
	Signal string `json:"signal,omitempty"`

	// output is the end of what it wrote, 3 KB at most; the pod's log has all of it.
	// +optional
	Output string `json:"output,omitempty"`

	// outputTruncated tells that output is not all.
	// +optional
	OutputTruncated bool `json:"outputTruncated,omitempty"`

	// pod that runs it, in the namespace opcrew-activities, and podUID its identity. A run
	// that had a pod never gets another.
	// +optional
	Pod string `json:"pod,omitempty"`
	// +optional
	PodUID string `json:"podUID,omitempty"`

	// startTime and finishTime are those of the command, by the clock of its host.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`

	// duration between the two, such as 1.5s.
	// +optional
	Duration string `json:"duration,omitempty"`

	// endedAt is when the operator learned of the end; ttlSecondsAfterFinished counts from it.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`

	// lastScheduleTime is when a schedule was last due and acted upon, nextScheduleTime when it will be.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// active are the Activities of a schedule that are at work.
	// +optional
	// +listType=atomic
	Active []string `json:"active,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the Activity; Ready sums up the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// State of the process.
type State string

// States of the process. All but the first two are ends.
const (
	// StatePending: it has not begun.
	StatePending State = "Pending"
	// StateRunning: it has begun.
	StateRunning State = "Running"
	// StateSucceeded: it ended with exit code 0.
	StateSucceeded State = "Succeeded"
	// StateFailed: it ended otherwise, or could not begin.
	StateFailed State = "Failed"
	// StateCancelled: it was ended, or kept from beginning, because somebody said so.
	StateCancelled State = "Cancelled"
	// StateTimedOut: it was ended because its time was up.
	StateTimedOut State = "TimedOut"
	// StateUnreachable: the host did not begin in time. Should it have done so unheard, its
	// answer replaces this when it comes.
	StateUnreachable State = "Unreachable"
	// StateUnknown: it began, and what became of it cannot be known.
	StateUnknown State = "Unknown"
	// StateRefused: the requester may not have it run.
	StateRefused State = "Refused"
	// StateScheduled: Activities are made from it; StateSuspended: they are not, for now.
	StateScheduled State = "Scheduled"
	StateSuspended State = "Suspended"
)

// StatusConditions are the conditions, for the operator's loop to fill in.
func (a *Activity) StatusConditions() *[]metav1.Condition { return &a.Status.Conditions }

// StatusObservedGeneration is the observed generation, for the operator's loop to fill in.
func (a *Activity) StatusObservedGeneration() *int64 { return &a.Status.ObservedGeneration }
