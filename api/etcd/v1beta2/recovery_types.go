// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecoverAnnotation on an EtcdCluster confirms the plan for the recovery from a lost quorum. Its value is
// status.quorumLoss.digest, so that it does not confirm a plan that has changed since.
const RecoverAnnotation = "etcd.opcrew.io/recover"

// RecoverNo is the value of RecoverAnnotation that prevents a recovery, whatever the policy, and cancels a
// started one as long as its seed does not serve.
const RecoverNo = "no"

// RecoveryPolicy is who decides that a cluster continues from the data that is left.
type RecoveryPolicy string

// The values of RecoveryPolicy.
const (
	// RecoveryManual shows the plan, and carries it out when the object is annotated with its digest.
	RecoveryManual RecoveryPolicy = "Manual"
	// RecoveryAutomatic carries the plan out as soon as possible.
	RecoveryAutomatic RecoveryPolicy = "Automatic"
)

// Recovery sets what happens when a majority of the members has lost its data, so that the others can never form a quorum.
type Recovery struct {
	// quorumLoss is Manual, the default, or Automatic. In either case the operator waits for proof that a majority
	// is gone: if a node is only silent, a user has to confirm that it is off.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['Manual', 'Automatic']",message="quorumLoss must be Manual (status.quorumLoss shows the plan, and an annotation confirms it) or Automatic"
	QuorumLoss RecoveryPolicy `json:"quorumLoss,omitempty"`
}

// Decided is the position of a cluster's log when it last had a quorum.
type Decided struct {
	// time before which every acknowledged write is in the log up to the index.
	Time metav1.Time `json:"time"`
	// index of the last entry of the log.
	Index int64 `json:"index"`
}

// QuorumLoss is what is known about a cluster without a quorum, and the plan for its recovery.
type QuorumLoss struct {
	// lastQuorum is the start of the last reading of the members that showed a quorum.
	// +optional
	LastQuorum *metav1.Time `json:"lastQuorum,omitempty"`
	// lastIndex is the last committed entry of the log at that time.
	// +optional
	LastIndex int64 `json:"lastIndex,omitempty"`
	// digest identifies the plan; empty while no plan can be carried out.
	// +optional
	Digest string `json:"digest,omitempty"`
	// plan describes what would be done, or what it waits for.
	// +optional
	Plan string `json:"plan,omitempty"`
}

// QuorumRecovery is a plan that was started.
type QuorumRecovery struct {
	// digest of the plan.
	// +optional
	Digest string `json:"digest,omitempty"`
	// member whose data the new cluster starts from; empty if it starts from a backup.
	// +optional
	Member string `json:"member,omitempty"`
	// index is the last entry of the log that the member has applied.
	// +optional
	Index int64 `json:"index,omitempty"`
	// backup is the EtcdBackup, and object the saved object, that the new cluster starts from.
	// +optional
	Backup string `json:"backup,omitempty"`
	// +optional
	Object string `json:"object,omitempty"`
	// savedAt is when the backup was saved: later writes are lost.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// unusable are the objects, each after its EtcdBackup, that this recovery and cancelled ones before it found
	// missing or broken.
	// +optional
	// +listType=atomic
	Unusable []string `json:"unusable,omitempty"`
	// lost are the members that are lost permanently.
	// +optional
	// +listType=atomic
	Lost []string `json:"lost,omitempty"`
	// former is the UID of the EtcdRestore that was carried out before and must not run again.
	// +optional
	Former string `json:"former,omitempty"`
	// mayBeLost describes which acknowledged writes may be lost.
	// +optional
	MayBeLost string `json:"mayBeLost,omitempty"`
}
