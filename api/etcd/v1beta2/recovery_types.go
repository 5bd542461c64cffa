// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecoverAnnotation on an EtcdCluster has a plan carried out by which the cluster comes back from a lost
// quorum. Its value is status.quorumLoss.digest: a plan that has changed since is not meant.
const RecoverAnnotation = "etcd.opcrew.io/recover"

// RecoverNo is the value of RecoverAnnotation with which no plan is carried out, by whatever policy, and one
// that was taken up is called off as long as its seed does not serve.
const RecoverNo = "no"

// RecoveryPolicy is who decides that a cluster goes on from what is left of it.
type RecoveryPolicy string

// The policies.
const (
	// RecoveryManual has the plan shown, and carried out when the object is annotated with its digest.
	RecoveryManual RecoveryPolicy = "Manual"
	// RecoveryAutomatic has it carried out as soon as it can be.
	RecoveryAutomatic RecoveryPolicy = "Automatic"
)

// Recovery tells what is done when so many members have lost their data that the others can never decide again.
type Recovery struct {
	// quorumLoss is Manual, the default, or Automatic. In either case nothing is done before it is proven that a
	// majority is gone: of a node that is only silent, somebody has to say that it is off.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['Manual', 'Automatic']",message="quorumLoss is Manual (the plan stands in status.quorumLoss, and an annotation has it carried out) or Automatic"
	QuorumLoss RecoveryPolicy `json:"quorumLoss,omitempty"`
}

// Decided is how far a cluster was when it was seen to have a quorum.
type Decided struct {
	// time before which all that was acknowledged stands in the log up to the index.
	Time metav1.Time `json:"time"`
	// index of the last entry of the log.
	Index int64 `json:"index"`
}

// QuorumLoss is what is known of a cluster that cannot decide any more, and how it would come back.
type QuorumLoss struct {
	// lastQuorum is when a look at the members began that showed a quorum for the last time.
	// +optional
	LastQuorum *metav1.Time `json:"lastQuorum,omitempty"`
	// lastIndex is the last entry of the log that was decided then.
	// +optional
	LastIndex int64 `json:"lastIndex,omitempty"`
	// digest names the plan; empty as long as there is none that can be carried out.
	// +optional
	Digest string `json:"digest,omitempty"`
	// plan is what would be done, in words, or what it waits for.
	// +optional
	Plan string `json:"plan,omitempty"`
}

// QuorumRecovery is a plan that was taken up.
type QuorumRecovery struct {
	// digest of the plan.
	// +optional
	Digest string `json:"digest,omitempty"`
	// member that is left, and whose data is taken over; empty if it is that of a backup.
	// +optional
	Member string `json:"member,omitempty"`
	// index is the last entry of the log that the member has carried out.
	// +optional
	Index int64 `json:"index,omitempty"`
	// backup is the EtcdBackup whose object is taken over, and object that one.
	// +optional
	Backup string `json:"backup,omitempty"`
	// +optional
	Object string `json:"object,omitempty"`
	// savedAt is when the backup was saved: what was written since is lost.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// unusable are the objects, each behind its EtcdBackup, that this recovery and those that were called off before
	// it have found to be gone or broken.
	// +optional
	// +listType=atomic
	Unusable []string `json:"unusable,omitempty"`
	// lost are the members that are gone for good.
	// +optional
	// +listType=atomic
	Lost []string `json:"lost,omitempty"`
	// former is the UID of the EtcdRestore that was carried out before, and so is not again.
	// +optional
	Former string `json:"former,omitempty"`
	// mayBeLost bounds, in words, which writes may be gone although they were acknowledged.
	// +optional
	MayBeLost string `json:"mayBeLost,omitempty"`
}
