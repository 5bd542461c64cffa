// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ActivityStatus is the result of the command.
type ActivityStatus struct {
	// prosta is the state of the command's process, such as Running or Succeeded.
	// +optional
	Prosta State `json:"prosta,omitempty"`

	// run is the number of the run that this status describes.
	// +optional
	Run int64 `json:"run,omitempty"`

	// runSince is when the operator recorded the run that this status describes. The start deadline of the run counts
	// from this time.
	// +optional
	RunSince *metav1.Time `json:"runSince,omitempty"`

	// exitCode of the command. It is absent if a signal ended the command.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// signal that ended the command, such as SIGKILL. It is empty if the command exited.
	// +optional
	Signal string `json:"signal,omitempty"`

	// output is the end of the command's output, at most 3 KB. The log of the pod contains all of the output.
	// +optional
	Output string `json:"output,omitempty"`

	// outputTruncated reports whether the beginning of the command's output is missing from output.
	// +optional
	OutputTruncated bool `json:"outputTruncated,omitempty"`

	// pod is the name of the pod that runs the command, in the namespace opcrew-activities. A run never gets a second
	// pod, so that the command never runs twice.
	// +optional
	Pod string `json:"pod,omitempty"`
	// podUID is the UID of the pod that runs the command.
	// +optional
	PodUID string `json:"podUID,omitempty"`

	// startTime is when the command started, by the clock of its host.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// finishTime is when the command ended, by the clock of its host.
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`

	// duration is the time between startTime and finishTime, such as 1.5s.
	// +optional
	Duration string `json:"duration,omitempty"`

	// endedAt is when the operator observed the end of the run that this status describes. ttlSecondsAfterFinished
	// counts from this time.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`

	// lastScheduleTime is when the schedule last created a run.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
	// nextScheduleTime is when the schedule will create the next run.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// active are the names of the schedule's Activities whose runs have not ended.
	// +optional
	// +listType=atomic
	Active []string `json:"active,omitempty"`

	// specHash identifies this run of an Activity on several hosts, with its spec and its requester. A user who approves
	// the run copies the hash to spec.hosts.approval.approvedHash.
	// +optional
	SpecHash string `json:"specHash,omitempty"`

	// fleet is the progress of a run on several hosts.
	// +optional
	Fleet *FleetStatus `json:"fleet,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the Activity; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// State is the state of the command's process.
type State string

// States of the process. All but Pending, Running, Scheduled and Suspended are final. Only an Activity with a schedule
// is Scheduled or Suspended.
const (
	// StatePending: the process has not started.
	StatePending State = "Pending"
	// StateRunning: the process has started.
	StateRunning State = "Running"
	// StateSucceeded: the process ended with exit code 0.
	StateSucceeded State = "Succeeded"
	// StateFailed: the process ended with another exit code or by a signal, or could not start.
	StateFailed State = "Failed"
	// StateCancelled: a user cancelled the run of the Activity, before or after the process started.
	StateCancelled State = "Cancelled"
	// StateTimedOut: the operator ended the process because it ran longer than spec.timeoutSeconds.
	StateTimedOut State = "TimedOut"
	// StateUnreachable: the host did not report before the start deadline that it had started the process. If the host
	// reports later, another state replaces this one.
	StateUnreachable State = "Unreachable"
	// StateUnknown: the process started, but the operator cannot determine its result.
	StateUnknown State = "Unknown"
	// StateRefused: the requester lacks the permission to run the command, so the command did not run.
	StateRefused State = "Refused"
	// StateScheduled and StateSuspended are states of a schedule: it creates Activities, or spec.suspend stops it.
	StateScheduled State = "Scheduled"
	StateSuspended State = "Suspended"
)

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (a *Activity) StatusConditions() *[]metav1.Condition { return &a.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (a *Activity) StatusObservedGeneration() *int64 { return &a.Status.ObservedGeneration }
