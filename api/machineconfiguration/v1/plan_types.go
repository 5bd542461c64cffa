// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of lists in the status.
const (
	MaxPlans    = 8
	MaxChanges  = 32
	MaxNodes    = 32
	MaxBlockers = 8
)

// Plan shows what nodes change to get from one configuration to another.
type Plan struct {
	// from is the rendered MachineConfig that the nodes have; empty for nodes that opcrew has not configured yet.
	// +optional
	From string `json:"from,omitempty"`
	// to is the rendered MachineConfig that the nodes get.
	// +required
	To string `json:"to"`
	// nodeCount is the number of nodes that have to change in this way.
	// +required
	NodeCount int32 `json:"nodeCount"`
	// nodes are names of these nodes, at most three.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
	// summary describes the change in a sentence.
	// +optional
	Summary string `json:"summary,omitempty"`
	// drains is true if the pods of a node are evicted before it changes.
	// +optional
	Drains bool `json:"drains,omitempty"`
	// reboots is true if each node reboots.
	// +optional
	Reboots bool `json:"reboots,omitempty"`
	// actions are carried out after the change, in this order, such as "Reload crio.service". At most 32 are listed.
	// +optional
	// +listType=atomic
	Actions []string `json:"actions,omitempty"`
	// changes are what changes on a node, sorted by path. At most 32 are listed; changeCount is the number of all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Changes []Change `json:"changes,omitempty"`
	// changeCount is the number of changes.
	// +optional
	ChangeCount int32 `json:"changeCount,omitempty"`
}

// Change is one difference between two configurations. It has hashes of contents, and no contents.
type Change struct {
	// kind is what changes: File, Directory, Link, Unit, DropIn, User or KernelArgument.
	// +required
	Kind string `json:"kind"`
	// name is the path, or the name of the unit or user, or the kernel argument.
	// +required
	Name string `json:"name"`
	// action is Added, Changed or Removed.
	// +required
	// +kubebuilder:validation:Enum=Added;Changed;Removed
	Action string `json:"action"`
	// from is the SHA-256 hash of the present content, or a description such as mode 0644.
	// +optional
	From string `json:"from,omitempty"`
	// to is the SHA-256 hash of the new content, or a description such as mode 0600.
	// +optional
	To string `json:"to,omitempty"`
}

// NodeProgress is a node that is changing, has failed or must wait.
type NodeProgress struct {
	// name of the node.
	// +required
	Name string `json:"name"`
	// state is Waiting, Draining, Working, Soaking, Failed or Unreconcilable.
	// +required
	State string `json:"state"`
	// currentConfig is the rendered MachineConfig that the node has.
	// +optional
	CurrentConfig string `json:"currentConfig,omitempty"`
	// desiredConfig is the rendered MachineConfig that the node gets.
	// +optional
	DesiredConfig string `json:"desiredConfig,omitempty"`
	// since is the time at which the node entered this state.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// message says what the node waits for or why it failed, and what to do.
	// +optional
	Message string `json:"message,omitempty"`
	// blockers are the pods that cannot be evicted, at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Blockers []Blocker `json:"blockers,omitempty"`
	// blockerCount is the number of pods that cannot be evicted.
	// +optional
	BlockerCount int32 `json:"blockerCount,omitempty"`
}

// Blocker is a pod that cannot be evicted from a node.
type Blocker struct {
	// pod is written as namespace/name.
	// +required
	Pod string `json:"pod"`
	// podDisruptionBudget is the name of the PodDisruptionBudget that forbids the eviction; empty if none does.
	// +optional
	PodDisruptionBudget string `json:"podDisruptionBudget,omitempty"`
	// message says why the pod cannot be evicted, and what to do.
	// +optional
	Message string `json:"message,omitempty"`
}
