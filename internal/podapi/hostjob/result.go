// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "time"

// State is the state of a run.
type State string

// The states of a run.
const (
	Succeeded State = "Succeeded" // the command ended with exit code 0
	Failed    State = "Failed"    // the command ended by itself, but not with exit code 0
	Cancelled State = "Cancelled" // the command ended because the pod was deleted
	TimedOut  State = "TimedOut"  // the command was killed because it took too long
	Unknown   State = "Unknown"   // it is not known whether or how far the command ran
	// NotStarted and Invalid mean that nothing was executed, because the host did not allow it, or because the order is
	// invalid.
	NotStarted State = "NotStarted"
	Invalid    State = "Invalid"
)

// The reasons of states.
const (
	ReasonExited      = "Exited"             // Succeeded, Failed: with an exit code
	ReasonSignaled    = "Signaled"           // Failed: by a signal of another process
	ReasonRunnerLost  = "RunnerLost"         // Failed, Unknown: a process of the runner was killed
	ReasonPodEnded    = "PodEnded"           // Cancelled
	ReasonDeadline    = "Deadline"           // TimedOut
	ReasonNoResult    = "NoResult"           // Unknown: the run was started earlier and left no result
	ReasonBadOrder    = "BadOrder"           // Invalid
	ReasonNoHost      = "NoHost"             // NotStarted, like all below: the host cannot be entered
	ReasonNoSecret    = "NoSecret"           // a file of a Secret is missing or cannot be a variable
	ReasonUnknownUser = "UnknownUser"        // the host has no such user
	ReasonUserLookup  = "UserLookup"         // the lookup of the user on the host failed
	ReasonRefusedUser = "RefusedUser"        // the process may not become the user
	ReasonNoDirectory = "NoDirectory"        // the directory does not exist
	ReasonDirectory   = "Directory"          // the user cannot enter the directory
	ReasonNoShell     = "NoShell"            // the host has no /bin/sh that the user can execute
	ReasonNoCommand   = "NoCommand"          // the host has no such executable that the user can execute
	ReasonTooLong     = "CommandTooLong"     // an argument exceeds the limit of Linux
	ReasonEnvTooLong  = "EnvironmentTooLong" // a variable exceeds the limit of Linux
	ReasonNoMarker    = "NoMarker"           // the marker cannot be written on the host
	ReasonNotReady    = "NotReady"           // the process did not start in time
	ReasonNotExecuted = "NotExecuted"        // the kernel refused to execute it
)

// Result is the result of a run. Times come from the host's clock.
type Result struct {
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// ExitCode or Signal says how the command ended, if it ended.
	ExitCode  *int      `json:"exitCode,omitempty"`
	Signal    string    `json:"signal,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// Tail is the end of the output, with the values of Secrets masked. Bytes is the length of the whole output, and
	// Truncated means that Tail is only a part of it.
	Tail      string `json:"tail,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	// Again means that this is the stored result of an earlier execution of the same order.
	Again bool `json:"again,omitempty"`
	// BootID identifies the boot of the host.
	BootID string `json:"bootID,omitempty"`
}
