// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineorder

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxReport is the maximum size of an encoded report in bytes.
	MaxReport  = 4 << 10
	maxMessage = 1 << 10
	maxDrift   = 10
	maxFinding = 200
	maxBootID  = 64
)

// Report is what the machine agent reports about its work.
type Report struct {
	// Config is the configuration that this report and the state annotation of the node refer to.
	Config string `json:"config"`
	Phase  Phase  `json:"phase"`
	// Message says what is wrong, or why the change was confirmed.
	Message string `json:"message,omitempty"`
	// RevertedTo is the configuration to which the host reverted.
	RevertedTo string `json:"revertedTo,omitempty"`
	// Drift has the first changes of others that the agent found, and MoreDrift is the number of further ones.
	Drift     []string `json:"drift,omitempty"`
	MoreDrift int      `json:"moreDrift,omitempty"`
	// BootID is the boot in which the agent completed the order.
	BootID string `json:"bootID,omitempty"`
}

// Phase is what the agent is doing, or the result.
type Phase string

// The phases.
const (
	// PhaseDrain: the agent has checked the order and waits for the drain.
	PhaseDrain Phase = "Drain"
	// PhaseDone: the host has the configuration.
	PhaseDone Phase = "Done"
	// PhaseRefused: the host cannot have the configuration. The agent has changed nothing.
	PhaseRefused Phase = "Refused"
	// PhaseReverted: the host had the configuration, and has the previous one again.
	PhaseReverted Phase = "Reverted"
	// PhaseFailed: the agent could not complete a change, and could not revert it.
	PhaseFailed Phase = "Failed"
)

// SetDrift sets the drift, and keeps as much of it as fits.
func (r *Report) SetDrift(all []string) {
	r.Drift, r.MoreDrift = nil, max(0, len(all)-maxDrift)
	for _, finding := range all[:min(len(all), maxDrift)] {
		r.Drift = append(r.Drift, cut(finding, maxFinding))
	}
}

// SetMessage sets the message, and keeps as much of it as fits.
func (r *Report) SetMessage(text string) { r.Message = cut(text, maxMessage) }

// cut returns the beginning of a text that needs at most limit bytes in JSON.
func cut(text string, limit int) string {
	var out strings.Builder
	left := limit - len(ellipsis)
	for _, r := range text {
		r = plain(r)
		if left -= cost(r); left < 0 {
			return out.String() + ellipsis
		}
		out.WriteRune(r)
	}
	return out.String()
}

const ellipsis = "…"

// plain replaces characters that JSON writes as an escape of six characters.
func plain(r rune) rune {
	if r < ' ' || strings.ContainsRune("\x7f<>&\u2028\u2029", r) {
		return ' '
	}
	return r
}

func cost(r rune) int {
	if r == '"' || r == '\\' {
		return 2
	}
	return utf8.RuneLen(r)
}

// check returns all errors of a report.
func (r *Report) check() error {
	phases := []Phase{PhaseDrain, PhaseDone, PhaseRefused, PhaseReverted, PhaseFailed}
	short := !slices.ContainsFunc(r.Drift, func(finding string) bool { return len(finding) > maxFinding })
	return errors.Join(
		demand(isName(r.Config), "config %.300q is not the name of a configuration", r.Config),
		demand(slices.Contains(phases, r.Phase), "this version does not know the phase %.300q", r.Phase),
		demand(len(r.Message) <= maxMessage, "the message is too long"),
		demand(r.RevertedTo == "" || isName(r.RevertedTo), "revertedTo %.300q is not the name of a configuration", r.RevertedTo),
		demand(len(r.Drift) <= maxDrift && short && r.MoreDrift >= 0, "there is more drift than fits"),
		demand(len(r.BootID) <= maxBootID, "the id of the boot is too long"),
	)
}
