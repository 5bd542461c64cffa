// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineorder

const (
	// OrderAnnotation is the annotation of a Node with the order. Only the operator writes it.
	OrderAnnotation = "opcrew.io/machine-order"
	// ReportAnnotation is the annotation of a Node with the report. Only the machine agent writes it.
	ReportAnnotation = "opcrew.io/machine-report"
)

const original = "machineconfiguration.openshift.io/"

// The annotations of the original. The operator writes DesiredConfig and LastAppliedDrain, and the agent the others.
const (
	CurrentConfig    = original + "currentConfig"
	DesiredConfig    = original + "desiredConfig"
	State            = original + "state"
	Reason           = original + "reason"
	DesiredDrain     = original + "desiredDrain"
	LastAppliedDrain = original + "lastAppliedDrain"
)

// Values of State.
const (
	StateDone           = "Done"
	StateWorking        = "Working"
	StateDegraded       = "Degraded"
	StateUnreconcilable = "Unreconcilable"
)

// Drain returns the value of DesiredDrain that requests the drain for a configuration.
func Drain(config string) string { return DrainPrefix + config }

// Uncordon returns the value of DesiredDrain that requests the end of the drain.
func Uncordon(config string) string { return "uncordon-" + config }

// DrainPrefix begins the value of DesiredDrain until the machine agent requests the end of the drain.
const DrainPrefix = "drain-"

const (
	// Namespace has the Secrets with configurations. A Secret has the name of its configuration.
	Namespace = "opcrew-machines"
	// SecretKey is the key of the Secret under which the encoded configuration is.
	SecretKey = "config"
	// ServiceAccount is the account of all machine agents. Their tokens are bound to their Nodes.
	ServiceAccount = "opcrew-machine"
)

const (
	// Unit is the unit of the machine agent.
	Unit = "opcrew-machine.service"
	// None is the name of the empty configuration, which restores the host. It has no Secret and no digest.
	None = "none"
)
