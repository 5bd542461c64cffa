// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

// Start holds what must be known before a pod is created.
type Start struct {
	// Obstacle is what prevents the pod from being created; nil if nothing does.
	Obstacle *Obstacle
	// Values has the values of secretEnvs, by variable name.
	Values map[string][]byte
	// Order is the order for the runner; Boot is the boot ID of the host.
	Order, Boot string
}

// Obstacle explains why a run cannot start. A final obstacle ends the run.
type Obstacle struct {
	Final           bool
	Reason, Message string
}
