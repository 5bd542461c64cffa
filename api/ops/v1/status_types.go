// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DivaStatus is what was seen of the system.
type DivaStatus struct {
	// manager is how many managers are ready, of how many: 1/1.
	// +optional
	Manager string `json:"manager,omitempty"`

	// clients is how many clients are ready, of how many: 2/2.
	// +optional
	Clients string `json:"clients,omitempty"`

	// message is that of Ready, with what else is worth knowing.
	// +optional
	Message string `json:"message,omitempty"`

	// replicas is the number of clients that there are to be, for the scale subresource.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// selector selects the clients' pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// ssh tells which keys are in use.
	// +optional
	SSH *SSHStatus `json:"ssh,omitempty"`

	// storage tells what becomes of the claims.
	// +optional
	Storage *StorageStatus `json:"storage,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the system; Ready sums up the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SSHPhase tells how far a change of the key pair has come.
type SSHPhase string

// Phases of a change of the key pair, in their order.
const (
	// SSHInUse: one pair is in use, and no other.
	SSHInUse SSHPhase = "InUse"
	// SSHAuthorizing: clients are being brought to let in the new key beside the old one.
	SSHAuthorizing SSHPhase = "Authorizing"
	// SSHSwitching: all of them do; the manager is being brought to log in with the new one.
	SSHSwitching SSHPhase = "Switching"
	// SSHRetiring: it does; clients are being brought to let in the old one no more.
	SSHRetiring SSHPhase = "Retiring"
)

// SSHStatus tells which keys are in use.
type SSHStatus struct {
	// phase of a change of the key pair: InUse, Authorizing, Switching or Retiring.
	// +optional
	Phase SSHPhase `json:"phase,omitempty"`

	// fingerprint of the key that is in use, or is being taken into use.
	// +optional
	Fingerprint string `json:"fingerprint,omitempty"`

	// previousFingerprint is that of the key before it, while clients may still let it in.
	// +optional
	PreviousFingerprint string `json:"previousFingerprint,omitempty"`

	// publicKey is the one that the manager logs in with.
	// +optional
	PublicKey string `json:"publicKey,omitempty"`

	// hostKey is the public key by which clients prove who they are.
	// +optional
	HostKey string `json:"hostKey,omitempty"`

	// formerHostKeys are those of clients that run since before a host key was lost.
	// +optional
	// +listType=atomic
	FormerHostKeys []string `json:"formerHostKeys,omitempty"`
}

// StorageStatus tells what becomes of the claims.
type StorageStatus struct {
	// least are the sizes, in Gi, down to which those of the spec can be taken back; absent
	// where all volumes have what is asked for.
	// +optional
	Least *LeastSizes `json:"least,omitempty"`

	// clients is how many clients have had a claim when last all claims were there.
	// +optional
	Clients int32 `json:"clients,omitempty"`

	// newest is when the newest of all claims was created that were there then: one of the same
	// name that is created later was made anew.
	// +optional
	Newest *metav1.Time `json:"newest,omitempty"`

	// remade are claims that were deleted and made anew, ten at most; told for a day.
	// +optional
	// +listType=atomic
	Remade []string `json:"remade,omitempty"`

	// remadeAt is when the last of them was.
	// +optional
	RemadeAt *metav1.Time `json:"remadeAt,omitempty"`
}

// LeastSizes are the sizes, in Gi, down to which what volumes did not get can be taken back.
type LeastSizes struct {
	// client is that of the clients.
	// +optional
	Client int32 `json:"client,omitempty"`
	// manager is that of the manager.
	// +optional
	Manager int32 `json:"manager,omitempty"`
	// extra is that of its resources.
	// +optional
	Extra int32 `json:"extra,omitempty"`
}

// StatusConditions gives the loop the conditions to write.
func (d *Diva) StatusConditions() *[]metav1.Condition { return &d.Status.Conditions }

// StatusObservedGeneration gives the loop the observed generation to write.
func (d *Diva) StatusObservedGeneration() *int64 { return &d.Status.ObservedGeneration }
