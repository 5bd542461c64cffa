// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MachineConfigPoolStatus is the observed state of a pool.
type MachineConfigPoolStatus struct {
	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// configuration is the rendered MachineConfig that all nodes of the pool last had together.
	// +optional
	Configuration PoolConfiguration `json:"configuration"`

	// machineCount is the number of nodes in the pool.
	// +optional
	MachineCount int32 `json:"machineCount"`

	// updatedMachineCount is the number of nodes that have spec.configuration.
	// +optional
	UpdatedMachineCount int32 `json:"updatedMachineCount"`

	// readyMachineCount is the number of nodes that have spec.configuration and are ready and not cordoned.
	// +optional
	ReadyMachineCount int32 `json:"readyMachineCount"`

	// unavailableMachineCount is the number of nodes that are cordoned, not ready or changing.
	// +optional
	UnavailableMachineCount int32 `json:"unavailableMachineCount"`

	// degradedMachineCount is the number of nodes whose update failed, or that cannot have the configuration.
	// +optional
	DegradedMachineCount int32 `json:"degradedMachineCount"`

	// conditions of the pool. Ready summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// certExpirys is part of OpenShift's API. opcrew does not write it.
	// +optional
	// +listType=atomic
	CertExpirys []CertExpiry `json:"certExpirys,omitempty"`

	// poolSynchronizersStatus is part of OpenShift's API. opcrew does not write it.
	// +optional
	// +listType=map
	// +listMapKey=poolSynchronizerType
	PoolSynchronizersStatus []PoolSynchronizerStatus `json:"poolSynchronizersStatus,omitempty"`

	// osImageStream is part of OpenShift's API. opcrew does not write it.
	// +optional
	OSImageStream *OSImageStreamReference `json:"osImageStream,omitempty"`

	// plans shows what nodes change to reach spec.configuration, with one entry for each configuration that nodes have
	// now. At most 8 are listed, those with the most nodes first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Plans []Plan `json:"plans,omitempty"`

	// nodes are the nodes that are changing, have failed or must wait, in the order in which they take their next step.
	// At most 32 are listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Nodes []NodeProgress `json:"nodes,omitempty"`

	// rollBack is the update that opcrew stopped, if spec.rollout.onFailure is RollBack and too many nodes failed. It
	// exists until the pool renders another configuration.
	// +optional
	RollBack *RollBack `json:"rollBack,omitempty"`
}

// RollBack is an update that opcrew stopped.
type RollBack struct {
	// from is the rendered MachineConfig that failed.
	// +required
	From string `json:"from"`
	// to is the rendered MachineConfig that the nodes return to.
	// +required
	To string `json:"to"`
	// at is the time at which opcrew stopped the update.
	// +required
	At metav1.Time `json:"at"`
	// reason names the nodes that failed, and why.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// CertExpiry is the time at which a certificate expires.
type CertExpiry struct {
	// bundle is the name of the bundle with the certificate.
	// +required
	Bundle string `json:"bundle"`
	// subject of the certificate.
	// +required
	Subject string `json:"subject"`
	// expiry is the time at which the certificate expires.
	// +optional
	Expiry *metav1.Time `json:"expiry,omitempty"`
}

// PoolSynchronizerStatus is the status of a synchronizer of OpenShift, such as that for pinned images.
type PoolSynchronizerStatus struct {
	// poolSynchronizerType is the type of the synchronizer.
	// +required
	// +kubebuilder:validation:MaxLength=256
	PoolSynchronizerType string `json:"poolSynchronizerType"`
	// machineCount is the number of machines.
	// +required
	MachineCount int64 `json:"machineCount"`
	// updatedMachineCount is the number of updated machines.
	// +required
	UpdatedMachineCount int64 `json:"updatedMachineCount"`
	// readyMachineCount is the number of ready machines.
	// +required
	ReadyMachineCount int64 `json:"readyMachineCount"`
	// availableMachineCount is the number of available machines.
	// +required
	AvailableMachineCount int64 `json:"availableMachineCount"`
	// unavailableMachineCount is the number of unavailable machines.
	// +required
	UnavailableMachineCount int64 `json:"unavailableMachineCount"`
	// observedGeneration is the generation that was applied last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
