// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DivaStatus is the observed state of the system.
type DivaStatus struct {
	// manager is the number of ready managers of all: 1/1.
	// +optional
	Manager string `json:"manager,omitempty"`

	// clients is the number of ready clients of all: 2/2.
	// +optional
	Clients string `json:"clients,omitempty"`

	// message is the message of Ready, followed by warnings.
	// +optional
	Message string `json:"message,omitempty"`

	// replicas is the desired number of clients, for the scale subresource.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// selector selects the clients' pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// ssh shows which keys are in use.
	// +optional
	SSH *SSHStatus `json:"ssh,omitempty"`

	// storage shows the state of the claims.
	// +optional
	Storage *StorageStatus `json:"storage,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the system; Ready summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SSHPhase is the progress of a change of the key pair.
type SSHPhase string

// Phases of a change of the key pair, in their order.
const (
	// SSHInUse: only one pair is in use.
	SSHInUse SSHPhase = "InUse"
	// SSHAuthorizing: clients are being changed to accept the new key in addition to the old one.
	SSHAuthorizing SSHPhase = "Authorizing"
	// SSHSwitching: all clients accept the new key; the manager is being changed to use it.
	SSHSwitching SSHPhase = "Switching"
	// SSHRetiring: the manager uses the new key; clients are being changed to refuse the old one.
	SSHRetiring SSHPhase = "Retiring"
)

// SSHStatus shows which keys are in use.
type SSHStatus struct {
	// phase of a change of the key pair: InUse, Authorizing, Switching or Retiring.
	// +optional
	Phase SSHPhase `json:"phase,omitempty"`

	// fingerprint of the key that is in use, or replaces the previous one.
	// +optional
	Fingerprint string `json:"fingerprint,omitempty"`

	// previousFingerprint is the fingerprint of the previous key, while clients may still accept it.
	// +optional
	PreviousFingerprint string `json:"previousFingerprint,omitempty"`

	// publicKey is the key with which the manager logs in.
	// +optional
	PublicKey string `json:"publicKey,omitempty"`

	// hostKey is the public key with which clients of earlier versions prove their identity. Others have a key each.
	// +optional
	HostKey string `json:"hostKey,omitempty"`

	// formerHostKeys are lost host keys that running clients of earlier versions still use.
	// +optional
	// +listType=atomic
	FormerHostKeys []string `json:"formerHostKeys,omitempty"`
}

// StorageStatus shows the state of the claims.
type StorageStatus struct {
	// least are the sizes, in Gi, down to which the spec can be reverted; absent
	// when all volumes have their desired size.
	// +optional
	Least *LeastSizes `json:"least,omitempty"`

	// clients is the number of clients that had a claim when last all claims existed.
	// +optional
	Clients int32 `json:"clients,omitempty"`

	// newest is the creation time of the newest claim at that time: a claim of the same name
	// that is created later has lost its data.
	// +optional
	Newest *metav1.Time `json:"newest,omitempty"`

	// remade are claims that were deleted and recreated within the last day, ten at most.
	// +optional
	// +listType=atomic
	Remade []string `json:"remade,omitempty"`

	// remadeAt is when the last of them was recreated.
	// +optional
	RemadeAt *metav1.Time `json:"remadeAt,omitempty"`
}

// LeastSizes are the sizes, in Gi, down to which growth that volumes did not get can be reverted.
type LeastSizes struct {
	// client is the size for the clients.
	// +optional
	Client int32 `json:"client,omitempty"`
	// manager is the size for the manager.
	// +optional
	Manager int32 `json:"manager,omitempty"`
	// extra is the size for the manager's resources.
	// +optional
	Extra int32 `json:"extra,omitempty"`
}

// StatusConditions returns the conditions for the reconcile loop to write.
func (d *Diva) StatusConditions() *[]metav1.Condition { return &d.Status.Conditions }

// StatusObservedGeneration returns the observed generation for the reconcile loop to write.
func (d *Diva) StatusObservedGeneration() *int64 { return &d.Status.ObservedGeneration }
