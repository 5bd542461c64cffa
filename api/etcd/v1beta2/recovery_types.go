// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecoverAnnotation on an EtcdCluster confirms the plan to recover the cluster from a lost quorum. Its value must equal
// status.quorumLoss.digest, so that a user never confirms a plan that has changed in the meantime.
const RecoverAnnotation = "etcd.opcrew.io/recover"

// RecoverNo is the value of RecoverAnnotation that prevents a recovery, whatever the policy in the spec. It also
// cancels a recovery in progress, as long as the first member of the recovered cluster does not serve yet.
const RecoverNo = "no"

// RecoveryPolicy is who confirms that a cluster without a quorum continues from the data that is left.
type RecoveryPolicy string

// Values of RecoveryPolicy.
const (
	// RecoveryManual makes the operator show the plan in the status, and carry it out when a user confirms it by
	// RecoverAnnotation.
	RecoveryManual RecoveryPolicy = "Manual"
	// RecoveryAutomatic makes the operator carry out the plan as soon as possible, without a confirmation.
	RecoveryAutomatic RecoveryPolicy = "Automatic"
)

// Recovery sets what the operator does when a majority of the members has lost its data, so that the remaining members
// can never form a quorum.
type Recovery struct {
	// quorumLoss is who confirms a recovery from a lost quorum: a user (Manual, the default), or no one (Automatic). In
	// both cases the operator waits for proof that a majority of the members is lost. A node that does not respond is
	// no proof: a user must confirm that the node is off.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['Manual', 'Automatic']",message="quorumLoss must be Manual (status.quorumLoss shows the plan, and an annotation confirms it) or Automatic"
	QuorumLoss RecoveryPolicy `json:"quorumLoss,omitempty"`
}

// Decided is the position in a cluster's Raft log at the time when the cluster last had a quorum.
type Decided struct {
	// time up to which the log is known to be complete: all writes that etcd acknowledged before it are in the Raft log
	// up to index.
	Time metav1.Time `json:"time"`
	// index of the last entry in the Raft log.
	Index int64 `json:"index"`
}

// QuorumLoss describes a cluster that has no quorum, and the plan to recover it.
type QuorumLoss struct {
	// lastQuorum is when the operator last started to read the members and found a quorum.
	// +optional
	LastQuorum *metav1.Time `json:"lastQuorum,omitempty"`
	// lastIndex is the index of the last committed entry in the Raft log at the time lastQuorum.
	// +optional
	LastIndex int64 `json:"lastIndex,omitempty"`
	// digest identifies the plan. A user confirms the plan by writing the digest in the annotation
	// etcd.opcrew.io/recover. It is empty while no plan can be carried out.
	// +optional
	Digest string `json:"digest,omitempty"`
	// plan describes how the operator would recover the cluster, or what it is waiting for.
	// +optional
	Plan string `json:"plan,omitempty"`
}

// QuorumRecovery is a plan to recover a cluster from a lost quorum that the operator has started.
type QuorumRecovery struct {
	// digest identifies the plan.
	// +optional
	Digest string `json:"digest,omitempty"`
	// member is the name of the member with whose data the new cluster starts; empty if it starts from a backup.
	// +optional
	Member string `json:"member,omitempty"`
	// index of the last entry in the Raft log that the member has applied.
	// +optional
	Index int64 `json:"index,omitempty"`
	// backup is the name of the EtcdBackup whose saved object the new cluster starts from; empty if it starts with the
	// data of a member.
	// +optional
	Backup string `json:"backup,omitempty"`
	// object is the name of the saved object from which the new cluster starts; empty if it starts with the data of a
	// member.
	// +optional
	Object string `json:"object,omitempty"`
	// savedAt is when the backup was saved. Later writes are lost.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// unusable are the backups that this recovery, or an earlier cancelled one, found missing or broken. Each entry is
	// the name of the EtcdBackup and of the saved object.
	// +optional
	// +listType=atomic
	Unusable []string `json:"unusable,omitempty"`
	// lost are the names of the members that are lost permanently.
	// +optional
	// +listType=atomic
	Lost []string `json:"lost,omitempty"`
	// former is the UID of the EtcdRestore that was carried out before this recovery, and that the operator must not
	// carry out again.
	// +optional
	Former string `json:"former,omitempty"`
	// mayBeLost describes the acknowledged writes that may be lost.
	// +optional
	MayBeLost string `json:"mayBeLost,omitempty"`
}
