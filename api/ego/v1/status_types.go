// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ActivityStatus is the result of the command.
type ActivityStatus struct {
	// prosta is the state of the process.
	// +optional
	Prosta State `json:"prosta,omitempty"`

	// run is the number of the run that this status describes.
	// +optional
	Run int64 `json:"run,omitempty"`

	// runSince is when the run was recorded; its start deadline counts from then.
	// +optional
	RunSince *metav1.Time `json:"runSince,omitempty"`

	// exitCode of the command, if no signal ended it.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// signal that ended the command, such as SIGKILL.
	// +optional
	Signal string `json:"signal,omitempty"`

	// output is the end of the command's output, 3 KB at most; the pod's log has all of it.
	// +optional
	Output string `json:"output,omitempty"`

	// outputTruncated reports whether output lacks earlier output.
	// +optional
	OutputTruncated bool `json:"outputTruncated,omitempty"`

	// pod that runs the command, in the namespace opcrew-activities, and podUID its UID. A run
	// that had a pod never gets another one.
	// +optional
	Pod string `json:"pod,omitempty"`
	// +optional
	PodUID string `json:"podUID,omitempty"`

	// startTime and finishTime of the command, by the clock of its host.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`

	// duration between the two, such as 1.5s.
	// +optional
	Duration string `json:"duration,omitempty"`

	// endedAt is when the operator observed the end; ttlSecondsAfterFinished counts from then.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`

	// lastScheduleTime is when the schedule last created a run, nextScheduleTime when it will create the next.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// active are the Activities of the schedule that have not ended.
	// +optional
	// +listType=atomic
	Active []string `json:"active,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the Activity; Ready summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// State of the process.
type State string

// States of the process. All but Pending and Running are final; Scheduled and Suspended are states of a schedule.
const (
	// StatePending: the process has not started.
	StatePending State = "Pending"
	// StateRunning: the process has started.
	StateRunning State = "Running"
	// StateSucceeded: the process ended with exit code 0.
	StateSucceeded State = "Succeeded"
	// StateFailed: the process ended otherwise, or could not start.
	StateFailed State = "Failed"
	// StateCancelled: a user ended the process, or prevented its start.
	StateCancelled State = "Cancelled"
	// StateTimedOut: the process was ended because it exceeded its timeout.
	StateTimedOut State = "TimedOut"
	// StateUnreachable: the host did not report a start in time. A late report replaces
	// this state.
	StateUnreachable State = "Unreachable"
	// StateUnknown: the process started, and its result cannot be found out.
	StateUnknown State = "Unknown"
	// StateRefused: the requester lacks the right to run it.
	StateRefused State = "Refused"
	// StateScheduled: the schedule creates Activities; StateSuspended: it is suspended.
	StateScheduled State = "Scheduled"
	StateSuspended State = "Suspended"
)

// StatusConditions returns the conditions for the reconcile loop to write.
func (a *Activity) StatusConditions() *[]metav1.Condition { return &a.Status.Conditions }

// StatusObservedGeneration returns the observed generation for the reconcile loop to write.
func (a *Activity) StatusObservedGeneration() *int64 { return &a.Status.ObservedGeneration }
