// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of an Activity.
const (
	// ActivityReady sums up the others: True when the command has succeeded, or a schedule is
	// kept; else False with the cause.
	ActivityReady = "Ready"
	// ActivityPermitted tells whether the requester may have it run there, as that user.
	ActivityPermitted = "Permitted"
	// ActivitySucceeded tells how the command ended; Unknown until it did. A schedule has none.
	ActivitySucceeded = "Succeeded"
	// ActivityCleanedUp is False while something of a run that has ended cannot be taken away;
	// else it is absent. It stands in nobody's way.
	ActivityCleanedUp = "CleanedUp"
	// ActivityScheduleKept tells whether runs are made in time. Only a schedule has it.
	ActivityScheduleKept = "ScheduleKept"
)

// Reasons of the conditions of an Activity, beside those of every kind.
const (
	// ReasonPermitted: the requester may.
	ReasonPermitted = "Permitted"
	// ReasonForbidden: the requester may not; the message names the right that is missing.
	ReasonForbidden = "Forbidden"
	// ReasonNoRequester: nobody stands in spec.requester: the policies are not installed.
	ReasonNoRequester = "NoRequester"
	// ReasonPolicyMissing: the policies that fill in and check the requester are not in force.
	ReasonPolicyMissing = "PolicyMissing"
	// ReasonSecretMissing: a value of secretEnvs is not there.
	ReasonSecretMissing = "SecretMissing"
	// ReasonHostMissing: there is no node of that name.
	ReasonHostMissing = "HostMissing"
	// ReasonWaiting: the host has not begun yet, or the run of a schedule waits for another's
	// end; the message tells why.
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
	// ReasonNotStarted: the command could not begin; the message tells why.
	ReasonNotStarted = "NotStarted"
	// ReasonCancelled: somebody cancelled it.
	ReasonCancelled = "Cancelled"
	// ReasonTimedOut: its time was up.
	ReasonTimedOut = "TimedOut"
	// ReasonLost: what became of it cannot be known.
	ReasonLost = "Lost"
	// ReasonBadSchedule: schedule or timeZone cannot be read.
	ReasonBadSchedule = "BadSchedule"
	// ReasonSuspended: no further runs are made.
	ReasonSuspended = "Suspended"
	// ReasonScheduled: runs are made in time.
	ReasonScheduled = "Scheduled"
)
