// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

// Start is what must be known before a pod is created.
type Start struct {
	// Obstacle, if any, prevents the pod from being created.
	Obstacle *Obstacle
	// Values are those of secretEnvs, by the names of the variables.
	Values map[string][]byte
	// Order is the order of the runner, and Boot the boot ID of the host.
	Order, Boot string
}

// Obstacle is why a run cannot start. A final one ends the run.
type Obstacle struct {
	Final           bool
	Reason, Message string
}
