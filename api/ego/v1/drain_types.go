// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// DefaultDrainTimeout is the time, in seconds, in which the node of a host must be drained.
const DefaultDrainTimeout = 1800

// Drain makes the operator cordon and drain the node of a host before the command runs there, and uncordon it when the
// command has succeeded.
type Drain struct {
	// timeoutSeconds is the time, in seconds, in which the pods of a node must be gone after its cordon, 1 to 604800;
	// default 1800. Then the host counts as failed, and the command does not run there.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`
}
