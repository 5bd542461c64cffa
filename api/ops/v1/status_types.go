// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DivaStatus is the observed state of an operations system: manager pods, and the client pods to which they log in over
// ssh.
type DivaStatus struct {
	// manager shows how many manager pods are ready, and how many there should be, such as 1/1.
	// +optional
	Manager string `json:"manager,omitempty"`

	// clients shows how many client pods are ready, and how many there should be, such as 2/2.
	// +optional
	Clients string `json:"clients,omitempty"`

	// message is the message of condition Ready, followed by the messages of warnings.
	// +optional
	Message string `json:"message,omitempty"`

	// replicas is the desired number of client pods, which the scale subresource needs.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// selector is the label selector of the client pods, which the scale subresource needs.
	// +optional
	Selector string `json:"selector,omitempty"`

	// ssh shows which ssh keys are in use.
	// +optional
	SSH *SSHStatus `json:"ssh,omitempty"`

	// storage shows the state of the PersistentVolumeClaims.
	// +optional
	Storage *StorageStatus `json:"storage,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the system; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SSHPhase is the progress of a replacement of the ssh key pair.
type SSHPhase string

// Phases of the replacement of the SSH key pair. InUse means that no replacement is in progress. A replacement goes
// through the other phases in this order.
const (
	// SSHInUse: only one key pair is in use. No replacement is in progress.
	SSHInUse SSHPhase = "InUse"
	// SSHAuthorizing: the operator makes all client pods accept the new key in addition to the old one.
	SSHAuthorizing SSHPhase = "Authorizing"
	// SSHSwitching: all client pods accept the new key, and the operator makes the manager pods log in with it.
	SSHSwitching SSHPhase = "Switching"
	// SSHRetiring: the manager pods log in with the new key, and the operator removes the old public key from the
	// authorized keys of all client pods.
	SSHRetiring SSHPhase = "Retiring"
)

// SSHStatus shows which ssh keys are in use.
type SSHStatus struct {
	// phase of a replacement of the key pair: Authorizing, Switching or Retiring; InUse while there is no replacement.
	// +optional
	Phase SSHPhase `json:"phase,omitempty"`

	// fingerprint of the current key. While a key is being replaced, this is the fingerprint of the new key.
	// +optional
	Fingerprint string `json:"fingerprint,omitempty"`

	// previousFingerprint is the fingerprint of the previous key. It is absent once no client pod accepts that key.
	// +optional
	PreviousFingerprint string `json:"previousFingerprint,omitempty"`

	// publicKey is the public key of the key pair with which the manager pods log in.
	// +optional
	PublicKey string `json:"publicKey,omitempty"`

	// hostKey is the host key that all client pods share if an earlier version of opcrew created them. Each newer
	// client pod has its own host key, which is not shown here.
	// +optional
	HostKey string `json:"hostKey,omitempty"`

	// formerHostKeys are earlier shared host keys whose private key is lost, but which running client pods still use.
	// +optional
	// +listType=atomic
	FormerHostKeys []string `json:"formerHostKeys,omitempty"`
}

// StorageStatus shows the state of the PersistentVolumeClaims.
type StorageStatus struct {
	// least shows down to which values, in Gi, the storage sizes in the spec can be lowered. It is absent when all
	// volumes have the size in the spec.
	// +optional
	Least *LeastSizes `json:"least,omitempty"`

	// clients is the number of client pods that had a claim when the operator last observed that no claim was missing.
	// +optional
	Clients int32 `json:"clients,omitempty"`

	// newest is the creation time of the newest claim at the last moment at which the operator observed that no claim
	// was missing. If a known claim has a later creation time, it was deleted and created again, and its data is lost.
	// +optional
	Newest *metav1.Time `json:"newest,omitempty"`

	// remade are the names of claims that were deleted and created again within the last day, at most ten. Their data
	// is lost.
	// +optional
	// +listType=atomic
	Remade []string `json:"remade,omitempty"`

	// remadeAt is when the last claim in remade was created again.
	// +optional
	RemadeAt *metav1.Time `json:"remadeAt,omitempty"`
}

// LeastSizes are the values, in Gi, down to which the storage sizes in the spec can be lowered.
type LeastSizes struct {
	// client is the lowest value, in Gi, to which client.storage.size can be set.
	// +optional
	Client int32 `json:"client,omitempty"`
	// manager is the lowest value, in Gi, to which manager.storage.size can be set.
	// +optional
	Manager int32 `json:"manager,omitempty"`
	// extra is the lowest value, in Gi, to which extra.storage.size can be set.
	// +optional
	Extra int32 `json:"extra,omitempty"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (d *Diva) StatusConditions() *[]metav1.Condition { return &d.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (d *Diva) StatusObservedGeneration() *int64 { return &d.Status.ObservedGeneration }
