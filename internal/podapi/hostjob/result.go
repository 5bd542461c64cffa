// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "time"

// State is the state of a run.
type State string

// The states of a run.
const (
	Succeeded State = "Succeeded" // the command ended with exit code 0
	Failed    State = "Failed"    // the command ended otherwise, by itself
	Cancelled State = "Cancelled" // the command ended because the pod was deleted
	TimedOut  State = "TimedOut"  // the command was ended because it took too long
	Unknown   State = "Unknown"   // whether and how far it ran is unknown
	// NotStarted and Invalid mean that nothing was executed: the host did not allow it, or the order
	// itself is wrong.
	NotStarted State = "NotStarted"
	Invalid    State = "Invalid"
)

// The reasons of states.
const (
	ReasonExited      = "Exited"             // Succeeded, Failed: by an exit code
	ReasonSignaled    = "Signaled"           // Failed: by a signal of another process
	ReasonRunnerLost  = "RunnerLost"         // Failed, Unknown: a process of the runner was killed
	ReasonPodEnded    = "PodEnded"           // Cancelled
	ReasonDeadline    = "Deadline"           // TimedOut
	ReasonNoResult    = "NoResult"           // Unknown: the run was started before and left no result
	ReasonBadOrder    = "BadOrder"           // Invalid
	ReasonNoHost      = "NoHost"             // NotStarted, as all that follow: the host cannot be entered
	ReasonNoSecret    = "NoSecret"           // a file of a Secret is missing or cannot be a variable
	ReasonUnknownUser = "UnknownUser"        // the host knows no such user
	ReasonUserLookup  = "UserLookup"         // the lookup of the user on the host failed
	ReasonRefusedUser = "RefusedUser"        // the process may not become the user
	ReasonNoDirectory = "NoDirectory"        // there is no such directory
	ReasonDirectory   = "Directory"          // the directory cannot be entered by the user
	ReasonNoShell     = "NoShell"            // the host has no /bin/sh that the user can execute
	ReasonNoCommand   = "NoCommand"          // the host has no such executable for the user
	ReasonTooLong     = "CommandTooLong"     // an argument is longer than Linux executes
	ReasonEnvTooLong  = "EnvironmentTooLong" // a variable is
	ReasonNoMarker    = "NoMarker"           // the marker cannot be written on the host
	ReasonNotReady    = "NotReady"           // the process did not start in time
	ReasonNotExecuted = "NotExecuted"        // the kernel refused to execute it
)

// Result is the result of a run. Times come from the host's clock.
type Result struct {
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// ExitCode or Signal is how the command ended, if it did.
	ExitCode  *int      `json:"exitCode,omitempty"`
	Signal    string    `json:"signal,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// Tail is the end of the output, with values of Secrets masked. Bytes is the length of the whole
	// output, and Truncated means that Tail is not all of it.
	Tail      string `json:"tail,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	// Again marks the stored result of an earlier execution of the same order.
	Again bool `json:"again,omitempty"`
	// BootID identifies the boot of the host.
	BootID string `json:"bootID,omitempty"`
}
