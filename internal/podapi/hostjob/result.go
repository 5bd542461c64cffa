// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "time"

// State is the state of a run of a command.
type State string

// These are the possible states of a run.
const (
	Succeeded State = "Succeeded" // the command ended with exit code 0
	Failed    State = "Failed"    // the command ended by itself with another exit code or a signal
	Cancelled State = "Cancelled" // the command ended because the pod was deleted
	TimedOut  State = "TimedOut"  // the command was killed at its time limit
	Unknown   State = "Unknown"   // opcrew does not know whether, or how far, the command ran
	// The command was not executed, because the host did not allow it (NotStarted) or the order is invalid (Invalid).
	NotStarted State = "NotStarted"
	Invalid    State = "Invalid"
)

// These are the reasons. Each comment names the states in which a reason occurs.
const (
	ReasonExited      = "Exited"             // Succeeded or Failed: the command ended with an exit code
	ReasonSignaled    = "Signaled"           // Failed: a signal that opcrew did not send ended the command
	ReasonRunnerLost  = "RunnerLost"         // Failed or Unknown: a process that supervises the command was killed
	ReasonPodEnded    = "PodEnded"           // Cancelled: the pod was deleted
	ReasonDeadline    = "Deadline"           // TimedOut: the command exceeded its time limit
	ReasonConnection  = "ConnectionLost"     // Unknown: the SSH connection was lost while the command could run
	ReasonNoResult    = "NoResult"           // Unknown: the run was started earlier and left no result
	ReasonBadOrder    = "BadOrder"           // Invalid: the order cannot be read or parsed, or has an invalid field
	ReasonNoHost      = "NoHost"             // NotStarted, like all reasons below: the program cannot enter the host
	ReasonNoSecret    = "NoSecret"           // a file of a Secret is missing, or is not valid as a variable
	ReasonUnknownUser = "UnknownUser"        // the host has no such user
	ReasonUserLookup  = "UserLookup"         // the lookup of the user on the host failed
	ReasonRefusedUser = "RefusedUser"        // the program may not switch to this user
	ReasonNoDirectory = "NoDirectory"        // the working directory does not exist
	ReasonDirectory   = "Directory"          // the user cannot enter the working directory
	ReasonNoShell     = "NoShell"            // the host has no /bin/sh that the user can execute
	ReasonNoCommand   = "NoCommand"          // the host has no such program that the user can execute
	ReasonTooLong     = "CommandTooLong"     // an argument exceeds the limit of Linux
	ReasonEnvTooLong  = "EnvironmentTooLong" // a variable exceeds the limit of Linux
	ReasonNoMarker    = "NoMarker"           // the file that records the start cannot be written
	ReasonNotReady    = "NotReady"           // the process for the command was not ready in time
	ReasonNotExecuted = "NotExecuted"        // the kernel refused to execute the command
	ReasonNoConnect   = "NoConnection"       // the SSH server did not accept a connection in time
	ReasonHostKey     = "HostKey"            // the host key is not pinned, or the SSH server has another one
	ReasonLogin       = "Login"              // the SSH server refused the private key
	ReasonSSHFiles    = "SSHFiles"           // the private key or the host keys cannot be read
)

// Result is the result of a run. Its times come from the clock of the host.
type Result struct {
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// ExitCode or Signal shows how the command ended; neither is set if it did not end.
	ExitCode  *int      `json:"exitCode,omitempty"`
	Signal    string    `json:"signal,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// Tail is the end of the output, with values of Secrets masked. Bytes is the length of the whole output. Truncated
	// is true if Tail is shorter than that.
	Tail      string `json:"tail,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	// Again is true if this result was stored by an earlier execution of the same order.
	Again bool `json:"again,omitempty"`
	// BootID identifies the boot of the host on which the command ran.
	BootID string `json:"bootID,omitempty"`
}
