// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defaults of a Rollout.
const (
	DefaultMaxFailures = 1
	DefaultGateTimeout = "10m"
)

// Rollout sets which nodes of a pool are updated first, and when opcrew stops an update.
type Rollout struct {
	// canary are the nodes that are updated before all others. Without it no node is preferred.
	// +optional
	Canary *Canary `json:"canary,omitempty"`

	// soak is how long updated nodes must be healthy before the next node begins, such as 5m; default 0s. It is at most
	// 168h.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) <= duration('168h')",message="soak must be a time from 0s to 168h, such as 90s or 5m"
	Soak string `json:"soak,omitempty"`

	// healthGate is what a node must report after its update. Without it a node must be ready.
	// +optional
	HealthGate *HealthGate `json:"healthGate,omitempty"`

	// maxFailures is the number of nodes whose update may fail before opcrew begins no further node, 1 to 1000; default
	// 1. Failed nodes get the next configuration first.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxFailures *int32 `json:"maxFailures,omitempty"`

	// onFailure is what happens when maxFailures nodes have failed. Stop, the default, leaves all nodes as they are.
	// RollBack returns all nodes of the pool to the configuration that they last had together.
	// +optional
	// +kubebuilder:validation:Enum=Stop;RollBack
	OnFailure FailureAction `json:"onFailure,omitempty"`
}

// FailureAction is what happens when too many nodes have failed.
type FailureAction string

// Values of FailureAction.
const (
	FailureStop     FailureAction = "Stop"
	FailureRollBack FailureAction = "RollBack"
)

// Canary selects the nodes that are updated before all others.
// +kubebuilder:validation:XValidation:rule="!has(self.nodeSelector) || !has(self.count)",message="a canary has either nodeSelector or count; remove one of them"
type Canary struct {
	// nodeSelector selects the nodes that are updated first. If no node of the pool matches, opcrew updates no node.
	// +optional
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`

	// count is the number of nodes that are updated first, 1 to 100; default 1. opcrew chooses those with the earliest
	// names.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Count *int32 `json:"count,omitempty"`

	// soak is how long the canary nodes must be healthy before other nodes begin, such as 1h; default
	// spec.rollout.soak. It is at most 168h.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) <= duration('168h')",message="soak must be a time from 0s to 168h, such as 90s or 5m"
	Soak string `json:"soak,omitempty"`
}

// HealthGate is what a node must report after its update, before the next node begins.
type HealthGate struct {
	// conditions are conditions of the Node, such as {type: Ready, status: "True"}, which is the default. If you list
	// others, include Ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []NodeConditionStatus `json:"conditions,omitempty"`

	// timeout is how long an updated node may take to report the conditions, from 10s to 24h; default 10m. After that
	// time its update counts as failed.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) >= duration('10s') && duration(self) <= duration('24h')",message="timeout must be a time from 10s to 24h, such as 10m"
	Timeout string `json:"timeout,omitempty"`
}

// NodeConditionStatus is a condition type of a Node, and the status that it must have.
type NodeConditionStatus struct {
	// type of the condition, such as Ready.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	Type string `json:"type"`

	// status that the condition must have: True, False or Unknown.
	// +required
	// +kubebuilder:validation:Enum="True";"False";Unknown
	Status corev1.ConditionStatus `json:"status"`
}
