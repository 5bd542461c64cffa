// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// MachineAnnotations are the annotations of a node on which ByMachineConfig depends.
func MachineAnnotations() []string {
	return []string{
		machineorder.CurrentConfig, machineorder.DesiredConfig, machineorder.State, machineorder.DesiredDrain, machineorder.LastAppliedDrain, MachineCordon,
	}
}

// ByMachineConfig reports whether MachineConfig changes a node, or is about to. A node that failed stays as it is until
// its pool has another configuration, so others may repair it.
func ByMachineConfig(node *corev1.Node) bool {
	is := node.Annotations
	desired := is[machineorder.DesiredConfig]
	switch {
	case node.Spec.Unschedulable && is[MachineCordon] != "":
		return true
	case desired == "" || hasFailed(node, desired):
		return false
	}
	return desired != is[machineorder.CurrentConfig] || is[machineorder.DesiredDrain] != is[machineorder.LastAppliedDrain]
}

// hasFailed reports whether the machine agent could not apply a configuration. The state may also be about an earlier one.
func hasFailed(node *corev1.Node, desired string) bool {
	state := node.Annotations[machineorder.State]
	if state != machineorder.StateDegraded && state != machineorder.StateUnreconcilable {
		return false
	}
	report, err := machineorder.ParseReport(node.Annotations[machineorder.ReportAnnotation])
	return err == nil && report.Config == desired
}
