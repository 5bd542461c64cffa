// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Phases of an EtcdCluster, as in the CoreOS operator. There a Failed cluster stayed Failed; in opcrew a cluster is
// Failed only while its spec is invalid.
const (
	PhaseCreating = "Creating"
	PhaseRunning  = "Running"
	PhaseFailed   = "Failed"
)

// EtcdClusterStatus is the observed state of the cluster.
type EtcdClusterStatus struct {
	// phase is Creating until the first members have formed a cluster, and then Running. It is Failed while the spec is
	// invalid.
	// +optional
	Phase string `json:"phase,omitempty"`

	// reason says why phase is Failed. It is empty in other phases.
	// +optional
	Reason string `json:"reason,omitempty"`

	// controlPaused reports whether the cluster is paused, so that the operator changes nothing.
	// +optional
	ControlPaused bool `json:"controlPaused,omitempty"`

	// clusterID is etcd's ID of the cluster, in hexadecimal. The operator sets it when it observes that the first
	// members have formed the cluster. After that the operator starts no member that could form a second cluster on an
	// empty volume.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`

	// formerClusterIDs are the last ten earlier cluster IDs, the latest first. A restore changes the ID, and so does a
	// recovery from a lost quorum. Backups with these IDs are also backups of this cluster.
	// +optional
	// +listType=atomic
	FormerClusterIDs []string `json:"formerClusterIDs,omitempty"`

	// size is the number of members that etcd reports.
	// +optional
	Size int32 `json:"size,omitempty"`

	// quorum shows how many voters are healthy, and how many a quorum needs.
	// +optional
	Quorum string `json:"quorum,omitempty"`

	// serviceName is the name of the Service for clients.
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// clientPort is the port of the Service for clients.
	// +optional
	ClientPort int32 `json:"clientPort,omitempty"`

	// connectionConfigMap is the name of a ConfigMap with what clients need to connect: the endpoints, and the name of
	// the Secret for TLS.
	// +optional
	ConnectionConfigMap string `json:"connectionConfigMap,omitempty"`

	// members are the names of the ready pods and of the unready pods.
	// +optional
	Members MembersStatus `json:"members,omitempty"`

	// membership is the list of members that etcd last reported.
	// +optional
	// +listType=map
	// +listMapKey=id
	Membership []MemberIdentity `json:"membership,omitempty"`

	// serial is the highest member number that the operator has given out. Each member has a number of its own.
	// +optional
	Serial int64 `json:"serial,omitempty"`

	// currentVersion is the lowest etcd version that a member runs.
	// +optional
	CurrentVersion string `json:"currentVersion,omitempty"`

	// targetVersion is the etcd version to which the operator moves members; empty while no upgrade is in progress.
	// +optional
	TargetVersion string `json:"targetVersion,omitempty"`

	// lineage identifies the restore that the data comes from: the UID of the EtcdRestore, or the name of a recovery
	// from a lost quorum. It is empty if the cluster was never restored.
	// +optional
	Lineage string `json:"lineage,omitempty"`

	// restore is the progress of the EtcdRestore or recovery that the operator started last.
	// +optional
	Restore *RestoreProgress `json:"restore,omitempty"`

	// decided is the position in the Raft log at the last quorum that the operator found before it wrote this status.
	// An operator that starts after the quorum was lost knows no newer position.
	// +optional
	Decided *Decided `json:"decided,omitempty"`

	// quorumLoss is set while the cluster has no quorum.
	// +optional
	QuorumLoss *QuorumLoss `json:"quorumLoss,omitempty"`

	// formedWith is the lowest version that the spec had until the members formed the cluster. The members wrote the
	// beginning of their Raft logs with this version or a later one. If formedWith is empty, the version is unknown.
	// +optional
	FormedWith string `json:"formedWith,omitempty"`

	// snapshotFrom is the Raft log index at which the members agreed on version 3.6 or later. etcd 3.7 may be unable to
	// read earlier entries, so the operator starts 3.7 on a member only if the member has a later snapshot. It is empty
	// if the cluster was formed with 3.6 or later.
	// +optional
	SnapshotFrom int64 `json:"snapshotFrom,omitempty"`

	// selector is the label selector of the pods, which the scale subresource needs.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the cluster; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MembersStatus contains the names of the ready pods and of the unready pods.
type MembersStatus struct {
	// ready are the names of the ready pods.
	// +optional
	// +listType=atomic
	Ready []string `json:"ready,omitempty"`
	// unready are the names of the pods that are not ready.
	// +optional
	// +listType=atomic
	Unready []string `json:"unready,omitempty"`
}

// MemberIdentity is a member as etcd reports it.
type MemberIdentity struct {
	// id is etcd's ID of the member, in hexadecimal.
	// +required
	ID string `json:"id"`
	// name is the name of the member's pod.
	// +optional
	Name string `json:"name,omitempty"`
	// learner reports whether the member is a learner, which does not vote.
	// +optional
	Learner bool `json:"learner,omitempty"`
}

// RestoreProgress is the progress of an EtcdRestore, or of a recovery from a lost quorum.
type RestoreProgress struct {
	// uid is the UID of the EtcdRestore, or the name of the recovery.
	// +optional
	UID string `json:"uid,omitempty"`
	// phase of the restore: Restoring, Restored or Abandoned.
	// +optional
	Phase string `json:"phase,omitempty"`
	// serial is the number of the member that starts with the restored data.
	// +optional
	Serial int64 `json:"serial,omitempty"`
	// since is the number of the member with which the previous restore started the cluster; 0 if there was no previous
	// restore. Members with lower numbers belong to the cluster before that restore.
	// +optional
	Since int64 `json:"since,omitempty"`
	// formerVoters is the number of voters when the cluster switched to the restored data. The Service for clients has
	// no endpoint while a majority of the former voters may still run.
	// +optional
	FormerVoters int32 `json:"formerVoters,omitempty"`
	// above is the highest etcd revision that clients may have seen, as far as the operator knows. The restored data
	// starts at a higher revision, so that no revision is used twice.
	// +optional
	Above int64 `json:"above,omitempty"`
	// object is the name of the backup from which the cluster is restored.
	// +optional
	Object string `json:"object,omitempty"`
	// revision is the etcd revision at which the restored cluster started.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// savedAt is when the backup was saved, according to its record.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// reason is why the restore is blocked, as a condition reason; empty if it is not blocked.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message says what blocks the restore, and what to do; empty if the restore is not blocked.
	// +optional
	Message string `json:"message,omitempty"`
	// recovery is set if this is a recovery from a lost quorum, and not a restore that a user requested.
	// +optional
	Recovery *QuorumRecovery `json:"recovery,omitempty"`
}

// TookUp reports whether the operator has started the EtcdRestore with this UID, or has completed it and then started a
// recovery.
func (p *RestoreProgress) TookUp(restore types.UID) bool {
	return p != nil && (p.UID == string(restore) || p.Recovery != nil && p.Recovery.Former == string(restore))
}

// Began returns the number of the member from which the current cluster was restored; 0 if it was never restored.
func (p *RestoreProgress) Began() int64 {
	switch {
	case p == nil:
		return 0
	case p.Phase == PhaseRestored:
		return p.Serial
	}
	return p.Since
}

// Phases of a restore. The cluster serves its old data until the phase is Restored. After that it serves the data of
// the backup.
const (
	PhaseRestoring = "Restoring"
	PhaseRestored  = "Restored"
	PhaseAbandoned = "Abandoned"
)
