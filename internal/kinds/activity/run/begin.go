// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

// Start holds what opcrew must know before it creates the pod of a run of an Activity.
type Start struct {
	// Obstacle is what prevents the creation of the pod; nil if nothing prevents it.
	Obstacle *Obstacle
	// Values maps the variable names in spec.secretEnvs to their values.
	Values map[string][]byte
	// Order is the text that instructs the agent in the pod which command to run. Boot is the boot ID of the host.
	Order, Boot string
	// Drained is true if the fleet of the Activity has cordoned the host.
	Drained bool
}

// Obstacle explains why a run of an Activity cannot start. If Final is true, the run ends without starting.
type Obstacle struct {
	Final           bool
	Reason, Message string
}
