// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of an Activity.
const (
	// ActivityReady summarizes the others: True when the command has succeeded, or a schedule
	// creates its runs in time; otherwise False with the cause.
	ActivityReady = "Ready"
	// ActivityPermitted reports whether the requester may run the command on the host as its user.
	ActivityPermitted = "Permitted"
	// ActivitySucceeded reports whether the command succeeded; Unknown until it ends. A schedule has none.
	ActivitySucceeded = "Succeeded"
	// ActivityCleanedUp is False while the operator cannot remove leftovers of an ended run.
	// Otherwise it is absent. It does not affect Ready.
	ActivityCleanedUp = "CleanedUp"
	// ActivityScheduleKept reports whether runs are created in time. Only a schedule has it.
	ActivityScheduleKept = "ScheduleKept"
)

// Reasons of the conditions of an Activity, in addition to those of every kind.
const (
	// ReasonPermitted: the requester has the right.
	ReasonPermitted = "Permitted"
	// ReasonForbidden: the requester lacks a right, which the message names.
	ReasonForbidden = "Forbidden"
	// ReasonNoRequester: spec.requester is empty, as the policies are not installed.
	ReasonNoRequester = "NoRequester"
	// ReasonPolicyMissing: the policies that fill in and check the requester are not in force.
	ReasonPolicyMissing = "PolicyMissing"
	// ReasonSecretMissing: a Secret or key of secretEnvs does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonHostMissing: there is no node of that name.
	ReasonHostMissing = "HostMissing"
	// ReasonWaiting: the host has not started the command yet, or a run of a schedule waits for
	// the end of another one; the message gives the cause.
	ReasonWaiting = "Waiting"
	// ReasonRunning: the command runs.
	ReasonRunning = "Running"
	// ReasonHostUnreachable: the host does not answer.
	ReasonHostUnreachable = "HostUnreachable"
	// ReasonSucceeded: the command ended with exit code 0.
	ReasonSucceeded = "Succeeded"
	// ReasonExited: the command ended with another exit code.
	ReasonExited = "Exited"
	// ReasonKilled: a signal ended the command.
	ReasonKilled = "Killed"
	// ReasonNotStarted: the command could not start; the message gives the cause.
	ReasonNotStarted = "NotStarted"
	// ReasonCancelled: a user cancelled the run.
	ReasonCancelled = "Cancelled"
	// ReasonTimedOut: the command exceeded its timeout.
	ReasonTimedOut = "TimedOut"
	// ReasonLost: the result of the command cannot be found out.
	ReasonLost = "Lost"
	// ReasonBadSchedule: schedule or timeZone is invalid.
	ReasonBadSchedule = "BadSchedule"
	// ReasonSuspended: the schedule creates no further runs.
	ReasonSuspended = "Suspended"
	// ReasonScheduled: runs are created in time.
	ReasonScheduled = "Scheduled"
)
