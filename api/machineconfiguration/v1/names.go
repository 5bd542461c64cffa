// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// RoleLabel is the label of a MachineConfig that names the pool it is for. Pools select MachineConfigs by this label by
// convention.
const RoleLabel = "machineconfiguration.openshift.io/role"

// PoolWorker and PoolMaster are the pools that every node of OpenShift belongs to. MachineConfigs whose RoleLabel has
// the value PoolWorker are merged first, so that a custom pool can override them.
const (
	PoolWorker = "worker"
	PoolMaster = "master"
)

// GeneratedByAnnotation is the annotation of a MachineConfig that the operator rendered, with the version of the
// operator.
const GeneratedByAnnotation = "machineconfiguration.openshift.io/generated-by-controller-version"

// Annotations of a Node. The operator writes DesiredConfigAnnotation and LastAppliedDrainAnnotation, and the machine
// agent writes the others.
const (
	CurrentConfigAnnotation    = "machineconfiguration.openshift.io/currentConfig"
	DesiredConfigAnnotation    = "machineconfiguration.openshift.io/desiredConfig"
	StateAnnotation            = "machineconfiguration.openshift.io/state"
	ReasonAnnotation           = "machineconfiguration.openshift.io/reason"
	DesiredDrainAnnotation     = "machineconfiguration.openshift.io/desiredDrain"
	LastAppliedDrainAnnotation = "machineconfiguration.openshift.io/lastAppliedDrain"
)

// UpdateTaint is the taint of each node that has still to change, with effect PreferNoSchedule.
const UpdateTaint = "UpdateInProgress"

// MachineState is the value of StateAnnotation.
type MachineState string

// Values of MachineState.
const (
	// StateDone: the node has the configuration in its annotation desiredConfig.
	StateDone MachineState = "Done"
	// StateWorking: the machine agent is changing the node.
	StateWorking MachineState = "Working"
	// StateDegraded: the machine agent could not apply the configuration.
	StateDegraded MachineState = "Degraded"
	// StateUnreconcilable: the node cannot have the configuration. The machine agent has changed nothing.
	StateUnreconcilable MachineState = "Unreconcilable"
)
