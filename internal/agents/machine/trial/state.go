// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/contact"
)

const maxState = 64 << 10

// State is a provisional change.
type State struct {
	// Config is the name of the configuration that is tried, Previous that of the one to which the host reverts.
	Config   string `json:"config"`
	Previous string `json:"previous"`
	// Before are the contacts of the node before the change.
	Before contact.Contacts `json:"before"`
	// Reboots is set if the change requires a reboot.
	Reboots bool `json:"reboots,omitempty"`
	Step    Step `json:"step"`
	// Reverting is set when the steps lead back to the previous configuration. Reason says why.
	Reverting bool   `json:"reverting,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Failed is set if the revert did not complete either.
	Failed bool `json:"failed,omitempty"`
	// Attempts counts how often the step was begun, and Problem is why the last attempt failed.
	Attempts int    `json:"attempts,omitempty"`
	Problem  string `json:"problem,omitempty"`
	// Notes say what was left out, or failed without ending the trial.
	Notes []string `json:"notes,omitempty"`
	// The step began at the time Uptime of the boot Boot.
	Boot   string        `json:"boot"`
	Uptime time.Duration `json:"uptime"`
}

// Step is a step of a trial.
type Step string

// The steps, in their order. A revert has no Check: there is nothing left to revert to.
const (
	Apply  Step = "Apply"
	Act    Step = "Act" // reload and restart services
	Reboot Step = "Reboot"
	Check  Step = "Check"
	Report Step = "Report" // the result waits until the API server accepts it
)

// Encode returns the content of the state's file.
func Encode(s State) ([]byte, error) { return json.Marshal(s) }

// Parse parses the content of the state's file.
func Parse(content []byte) (State, error) {
	var s State
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return State{}, fmt.Errorf("this version cannot read the state of the trial: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("there is text after the state of the trial")
	}
	return s, s.check()
}

func (s State) check() error {
	switch {
	case s.Config == "":
		return errors.New("the state of the trial names no configuration")
	case !slices.Contains([]Step{Apply, Act, Reboot, Check, Report}, s.Step):
		return fmt.Errorf("the trial has the unknown step %q", s.Step)
	case s.Attempts < 0 || s.Uptime < 0:
		return errors.New("the trial has a negative count or time")
	}
	return nil
}
