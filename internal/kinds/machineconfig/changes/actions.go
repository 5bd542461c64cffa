// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"slices"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// Step is one action on a host.
type Step struct {
	Type mcfgv1.ActionType
	// Unit is the unit to reload or restart.
	Unit string
}

// String describes the step, as in "Restart crio.service".
func (s Step) String() string {
	if s.Unit == "" {
		return string(s.Type)
	}
	return string(s.Type) + " " + s.Unit
}

// Steps are the actions that a change of configuration requires, in their order.
type Steps []Step

// Reboots reports whether the host reboots.
func (s Steps) Reboots() bool { return slices.Contains(s, Step{Type: mcfgv1.ActionReboot}) }

// Drains reports whether the pods of the node are evicted first.
func (s Steps) Drains() bool {
	return s.Reboots() || slices.Contains(s, Step{Type: mcfgv1.ActionDrain})
}

// Strings returns the descriptions of the steps.
func (s Steps) Strings() []string {
	var out []string
	for _, step := range s {
		out = append(out, step.String())
	}
	return out
}

// Required returns the actions that changes require. A reboot replaces all others. Drain and DaemonReload come first,
// and a repeated action is carried out once, after everything that it has to follow.
func Required(all []Change, policy Policy) Steps {
	var steps Steps
	for _, c := range all {
		for _, action := range policy.required(c) {
			if action.Type != mcfgv1.ActionNone {
				steps = append(steps, newStep(action))
			}
		}
	}
	if steps.Reboots() {
		return Steps{{Type: mcfgv1.ActionReboot}}
	}
	return merge(steps)
}

func newStep(action mcfgv1.PolicyAction) Step {
	switch {
	case action.Reload != nil:
		return Step{action.Type, string(action.Reload.ServiceName)}
	case action.Restart != nil:
		return Step{action.Type, string(action.Restart.ServiceName)}
	}
	return Step{Type: action.Type}
}

// merge removes repetitions, and reloads of units that are restarted.
func merge(steps Steps) Steps {
	var out Steps
	for _, first := range []Step{{Type: mcfgv1.ActionDrain}, {Type: mcfgv1.ActionDaemonReload}} {
		if slices.Contains(steps, first) {
			out = append(out, first)
		}
	}
	for i, step := range steps {
		restarted := step.Type == mcfgv1.ActionReload && slices.Contains(steps, Step{mcfgv1.ActionRestart, step.Unit})
		if !restarted && !slices.Contains(out, step) && !slices.Contains(steps[i+1:], step) {
			out = append(out, step)
		}
	}
	return out
}
