// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// Phase is what a node is doing, as its annotations show.
type Phase string

// Values of Phase.
const (
	// Idle: the node has the configuration that it should have, or none.
	Idle Phase = ""
	// Ordered: the machine agent has not begun to carry out an order.
	Ordered Phase = "Ordered"
	// WantsDrain: the machine agent has checked the order, and waits for a drain. It has changed nothing.
	WantsDrain Phase = "WantsDrain"
	// Working: the machine agent is changing the host.
	Working Phase = "Working"
	// WantsUncordon: the machine agent has completed the order.
	WantsUncordon Phase = "WantsUncordon"
	// Failed: the machine agent could not apply the configuration.
	Failed Phase = "Failed"
	// Refused: the host cannot have the configuration. The machine agent has changed nothing.
	Refused Phase = "Refused"
)

// Values of the drain annotations are one of these prefixes and the name of a configuration.
const (
	DrainPrefix    = "drain-"
	UncordonPrefix = "uncordon-"
)

// PhaseOf returns the phase that the annotations of a node show. about is the configuration that the agent's state is
// about. While it is about an earlier one, the agent has not begun to carry out the order; it must also confirm an
// order to return to the configuration that it had.
func PhaseOf(annotations map[string]string, about string) Phase {
	current, desired := annotations[mcfgv1.CurrentConfigAnnotation], annotations[mcfgv1.DesiredConfigAnnotation]
	wants := annotations[mcfgv1.DesiredDrainAnnotation]
	if wants == annotations[mcfgv1.LastAppliedDrainAnnotation] {
		wants = ""
	}
	state := mcfgv1.MachineState(annotations[mcfgv1.StateAnnotation])
	switch {
	case desired == "":
		return Idle
	case state != "" && state != mcfgv1.StateDone && about != desired:
		return Ordered
	case state == mcfgv1.StateDegraded:
		return Failed
	case state == mcfgv1.StateUnreconcilable:
		return Refused
	case state == mcfgv1.StateWorking && wants == DrainPrefix+desired:
		return WantsDrain
	case state == mcfgv1.StateWorking:
		return Working
	case desired != current:
		return Ordered
	case strings.HasPrefix(wants, UncordonPrefix):
		return WantsUncordon
	}
	return Idle
}
