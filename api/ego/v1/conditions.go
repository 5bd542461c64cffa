// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of an Activity.
const (
	// ActivityReady summarizes the other conditions. It is True when the command has succeeded, or while a schedule
	// creates its runs in time. Otherwise it is False, and its reason is the cause.
	ActivityReady = "Ready"
	// ActivityPermitted reports whether the requester may run the command on the host as the user in spec.execuser.
	ActivityPermitted = "Permitted"
	// ActivitySucceeded reports whether the command succeeded. It is Unknown until the command ends. An Activity with a
	// schedule does not have it.
	ActivitySucceeded = "Succeeded"
	// ActivityCleanedUp is False while the operator cannot remove leftovers of an ended run. Otherwise the condition is
	// absent. The condition does not affect Ready.
	ActivityCleanedUp = "CleanedUp"
	// ActivityScheduleKept reports whether the operator creates the runs of a schedule in time. Only an Activity with a
	// schedule has it.
	ActivityScheduleKept = "ScheduleKept"
	// ActivityApproved reports whether a second user has approved the run. Only an Activity that needs an approval has
	// it.
	ActivityApproved = "Approved"
)

// Condition reasons of an Activity, in addition to the reasons that all kinds share.
const (
	// ReasonPermitted: the requester has permission to run the command on the host.
	ReasonPermitted = "Permitted"
	// ReasonForbidden: the requester lacks a permission that is needed to run the command. The message names the
	// permission.
	ReasonForbidden = "Forbidden"
	// ReasonNoRequester: spec.requester is empty, because the admission policies that set it are not installed.
	ReasonNoRequester = "NoRequester"
	// ReasonPolicyMissing: the admission policies that set and check spec.requester are not in force.
	ReasonPolicyMissing = "PolicyMissing"
	// ReasonSecretMissing: a Secret of spec.secretEnvs, or a key in it, does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonHostMissing: no node has the name in spec.host.
	ReasonHostMissing = "HostMissing"
	// ReasonWaiting: the host has not started the command yet, or a run of a schedule waits for another run to end. The
	// message says why.
	ReasonWaiting = "Waiting"
	// ReasonRunning: the command is running.
	ReasonRunning = "Running"
	// ReasonHostUnreachable: the host does not respond.
	ReasonHostUnreachable = "HostUnreachable"
	// ReasonSucceeded: the command ended with exit code 0.
	ReasonSucceeded = "Succeeded"
	// ReasonExited: the command ended with an exit code other than 0.
	ReasonExited = "Exited"
	// ReasonKilled: a signal ended the command.
	ReasonKilled = "Killed"
	// ReasonNotStarted: the host could not start the command. The message says why.
	ReasonNotStarted = "NotStarted"
	// ReasonCancelled: a user cancelled the run of the Activity.
	ReasonCancelled = "Cancelled"
	// ReasonTimedOut: the command ran longer than spec.timeoutSeconds, so the operator ended it.
	ReasonTimedOut = "TimedOut"
	// ReasonLost: the operator cannot determine the result of the command.
	ReasonLost = "Lost"
	// ReasonBadSchedule: spec.schedule or spec.timeZone is invalid.
	ReasonBadSchedule = "BadSchedule"
	// ReasonSuspended: spec.suspend stops the schedule, so that it creates no further runs.
	ReasonSuspended = "Suspended"
	// ReasonScheduled: the schedule creates its runs in time.
	ReasonScheduled = "Scheduled"

	// ReasonApproved: a second user has approved the run.
	ReasonApproved = "Approved"
	// ReasonAwaitingApproval: the run waits until a second user approves it. The message has the command.
	ReasonAwaitingApproval = "AwaitingApproval"
	// ReasonNoHosts: no node matches spec.hosts.
	ReasonNoHosts = "NoHosts"
	// ReasonOutsideWindow: hosts start only in the maintenance window of spec.hosts.window.
	ReasonOutsideWindow = "OutsideWindow"
	// ReasonSoaking: the command has succeeded on the canary hosts, and the other hosts wait.
	ReasonSoaking = "Soaking"
	// ReasonBudgetUsed: as many hosts as spec.hosts.maxUnavailable allows are not available.
	ReasonBudgetUsed = "BudgetUsed"
	// ReasonDraining: the operator drains the node of a host before the command runs there.
	ReasonDraining = "Draining"
	// ReasonDrainBlocked: a pod of a node that is drained cannot be evicted, or does not end. The message names it.
	ReasonDrainBlocked = "DrainBlocked"
	// ReasonHeld: another user or tool, such as MachineConfig, works on the nodes that are left.
	ReasonHeld = "Held"
	// ReasonStoppedOnFailure: the command failed on more hosts than spec.hosts.maxFailures allows, so that no further
	// host started.
	ReasonStoppedOnFailure = "StoppedOnFailure"
	// ReasonHostsFailed: all hosts have ended, and the command did not succeed on some of them.
	ReasonHostsFailed = "HostsFailed"
)
