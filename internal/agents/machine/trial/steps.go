// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/contact"
)

const (
	// maxAttempts is how often a step is begun before the change is reverted. A step that ends the agent or the host each
	// time would otherwise be repeated for ever.
	maxAttempts = 5
	// maxReverting is how often a step of a revert is begun. After that, only a user can help.
	maxReverting = 8
	// maxProblem is how much of an error is kept, in bytes.
	maxProblem = 500
)

// Now is the clock of the host.
type Now struct {
	// Boot is the id of this boot, Uptime the time since it began.
	Boot   string
	Uptime time.Duration
}

// New returns the state of a change before its first step.
func New(config, previous string, reboots bool, before contact.Contacts, now Now) State {
	return State{Config: config, Previous: previous, Reboots: reboots, Before: before, Step: Apply}.at(Apply, now)
}

func (s State) at(step Step, now Now) State {
	s.Step, s.Attempts, s.Problem, s.Boot, s.Uptime = step, 0, "", now.Boot, now.Uptime
	return s
}

// Begin returns the state to save before a step is carried out. A step that was begun too often leads to a revert.
// After the boot that a change required, the reboot is complete.
func (s State) Begin(now Now) State {
	if s.Step == Reboot && s.Boot != now.Boot {
		return s.Next(now).Begin(now)
	}
	s.Attempts++
	switch {
	case s.Step == Check || s.Step == Report: // to repeat them is harmless, and time ends them
		s.Attempts = 0
	case !s.Reverting && s.Attempts > maxAttempts:
		return s.Revert(s.incomplete("of "+s.Config, maxAttempts), now).Begin(now)
	case s.Reverting && s.Step == Act && s.Attempts > maxAttempts: // the files are back, so the host is as it was
		s.Notes = append(s.Notes, s.incomplete("of the revert to "+s.Previous, maxAttempts))
		return s.Next(now)
	case s.Reverting && s.Attempts > maxReverting:
		s.Reason += "; " + s.incomplete("of the revert to "+s.Previous, maxReverting) + ", so the host needs a user"
		s.Failed = true
		return s.Next(now) // the actions may bring the contacts back, because the attempts did what they could
	}
	return s
}

// incomplete says that a step was begun too often.
func (s State) incomplete(what string, attempts int) string {
	text := fmt.Sprintf("the step %s %s did not complete in %d attempts", s.Step, what, attempts)
	if s.Problem != "" {
		text += ": " + s.Problem
	}
	return text
}

// Fail returns the state after an attempt that failed.
func (s State) Fail(problem string) State {
	s.Problem = strings.ToValidUTF8(problem[:min(len(problem), maxProblem)], "")
	return s
}

// Message returns the reason with all notes.
func (s State) Message() string {
	parts := append([]string{s.Reason}, s.Notes...)
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "; ")
}

// Next returns the state after the step is complete.
func (s State) Next(now Now) State {
	switch {
	case s.Step == Apply:
		return s.at(Act, now)
	case s.Step == Act && s.Reboots:
		return s.at(Reboot, now)
	case s.Step != Check && s.Step != Report && !s.Reverting:
		return s.at(Check, now)
	}
	return s.at(Report, now)
}

// Revert returns the state that leads back to the previous configuration.
func (s State) Revert(reason string, now Now) State {
	if s.Reverting {
		return s
	}
	s.Reverting, s.Reason, s.Notes = true, reason, nil // the notes are about the change
	return s.at(Apply, now)
}

// Judge returns the state after a verdict about the contacts of the node.
func (s State) Judge(verdict contact.Verdict, reason string, now Now) State {
	switch {
	case s.Step != Check || verdict == contact.Wait:
		return s
	case verdict == contact.Revert:
		return s.Revert(reason, now)
	}
	s.Reason = reason
	return s.at(Report, now)
}

// Elapsed returns how long the step takes. After another boot it is the time since that boot, because what a node lost
// by a boot needs time to come back.
func (s State) Elapsed(now Now) time.Duration {
	if s.Boot != now.Boot {
		return now.Uptime
	}
	return max(0, now.Uptime-s.Uptime)
}

// Source returns the name of the configuration that the host leaves.
func (s State) Source() string {
	if s.Reverting {
		return s.Config
	}
	return s.Previous
}

// Target returns the name of the configuration that the host should have.
func (s State) Target() string {
	if s.Reverting {
		return s.Previous
	}
	return s.Config
}
