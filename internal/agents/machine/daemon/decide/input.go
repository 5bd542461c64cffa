// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package decide

import (
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	// RecheckTime is how long the agent waits before it checks again whether the host can have a configuration.
	RecheckTime = 5 * time.Minute
	// ScanTime is how often the agent looks for drift that the watch of files does not show.
	ScanTime = 10 * time.Minute
	// CalmTime is the least time between two scans.
	CalmTime = 30 * time.Second
	// ProbeTime is how often the agent measures its contacts while a change is provisional.
	ProbeTime = 5 * time.Second
)

// Input is everything that the rules need to know.
type Input struct {
	// Broken says why the agent's own state on the host cannot be read; empty if it can.
	Broken string
	// Annotations are those of the Node; nil if the agent has not seen the Node since it started.
	Annotations map[string]string
	// Unreachable is set for some time after a write of annotations failed.
	Unreachable bool
	// Order is the order in the annotations; nil if there is none. Problem says why it cannot be read.
	Order   *machineorder.Order
	Problem string
	Journal journal.State
	// Trial is the change in progress; nil if there is none.
	Trial *trial.State
	// Check is the result of the last check of an order; nil if there was none.
	Check *Check
	// Uptime is the time since boot.
	Uptime time.Duration
	// Managed is set if opcrew has changed the host, so that there can be drift. Scanned is when the last scan was, and
	// Changed is set if a file has changed since; both since the agent started.
	Managed bool
	Scanned *time.Duration
	Changed bool
	// Drift is what the last scan found, to be reported.
	Drift []string
}

// Check is the result of a check whether the host can have a configuration.
type Check struct {
	Config, Digest string
	// Problem says why the host cannot have it; empty if it can.
	Problem string
	// At is the time since boot.
	At time.Duration
}

// Action is what a step does.
type Action string

// The actions.
const (
	Wait      Action = "Wait"
	Report    Action = "Report"    // write annotations of the Node
	Note      Action = "Note"      // save what changed in the order, such as the policy
	Preflight Action = "Preflight" // fetch the configuration, and check that the host can have it
	Begin     Action = "Begin"     // begin a trial
	Proceed   Action = "Proceed"   // carry out the step of the trial
	Conclude  Action = "Conclude"  // save the result of the trial
	Scan      Action = "Scan"      // look for drift, and repair or adopt it
)

// Step is the next step of the agent.
type Step struct {
	Do Action
	// Write are the annotations to write by Report.
	Write map[string]string
	// After is when to decide again if nothing happens before; 0 means never.
	After time.Duration
}

// checked returns the result of the check of the current order; nil if there is none yet.
func (in *Input) checked() *Check {
	if c := in.Check; c != nil && in.Order != nil && c.Config == in.Order.Config && c.Digest == in.Order.Digest {
		return c
	}
	return nil
}

// refusal says why the host cannot have the configuration of the order; empty if it can, or if that is unknown.
func (in *Input) refusal() string {
	if c := in.checked(); c != nil {
		return c.Problem
	}
	return ""
}

func (in *Input) settled() bool { return in.Journal.Settles(in.Order) }

// drained reports whether the operator has drained the node for the order, if the order needs it.
func (in *Input) drained() bool {
	return !in.Order.Drains() || in.Annotations[machineorder.LastAppliedDrain] == machineorder.Drain(in.Order.Config)
}
