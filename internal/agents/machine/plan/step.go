// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
)

// Action is what a step does.
type Action string

// The actions of steps. Set changes the key of the step from one state to another.
const (
	Set          Action = "set"
	SetLabels    Action = "set-labels"
	DaemonReload Action = "daemon-reload"
	UpdateBoot   Action = "update-boot"
)

// Step is one step on the host.
type Step struct {
	Do Action
	ledger.Key
	From, To ledger.State
	// Content is the content of a file; nil if it is that of the original, or stays.
	Content []byte
	// Paths are what SetLabels is about.
	Paths []string
	// Restore is set if the step restores what the host had before.
	Restore bool
}

func (s Step) String() string {
	if s.Do != Set {
		return string(s.Do)
	}
	return string(s.Do) + " " + string(s.Kind) + " " + s.Name
}
