// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Phases of an EtcdCluster, as in the CoreOS operator. There Failed was final; here it lasts
// while the spec is invalid.
const (
	PhaseCreating = "Creating"
	PhaseRunning  = "Running"
	PhaseFailed   = "Failed"
)

// EtcdClusterStatus is the observed state of the cluster.
type EtcdClusterStatus struct {
	// phase is Creating until the first members have formed a cluster, then Running; Failed while the spec
	// is invalid.
	// +optional
	Phase string `json:"phase,omitempty"`

	// reason says why the phase is Failed.
	// +optional
	Reason string `json:"reason,omitempty"`

	// controlPaused reports whether changes are held back.
	// +optional
	ControlPaused bool `json:"controlPaused,omitempty"`

	// clusterID is etcd's ID of the cluster, in hexadecimal. It is set as soon as the operator observes that the
	// first members have formed the cluster: from then on no member may start on an empty volume.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`

	// formerClusterIDs are the last ten earlier IDs, the latest first: a restore, and the recovery from a lost
	// quorum, change the ID. Backups with these IDs are also backups of this cluster.
	// +optional
	// +listType=atomic
	FormerClusterIDs []string `json:"formerClusterIDs,omitempty"`

	// size is the number of members, as etcd itself counts them.
	// +optional
	Size int32 `json:"size,omitempty"`

	// quorum shows how many of the voters are healthy, and how many a quorum needs.
	// +optional
	Quorum string `json:"quorum,omitempty"`

	// serviceName is the Service for clients.
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// clientPort is the port of that Service.
	// +optional
	ClientPort int32 `json:"clientPort,omitempty"`

	// connectionConfigMap names a ConfigMap with what clients need: endpoints, and the Secret for TLS.
	// +optional
	ConnectionConfigMap string `json:"connectionConfigMap,omitempty"`

	// members are the pods by whether they are ready.
	// +optional
	Members MembersStatus `json:"members,omitempty"`

	// membership is the last list of members that etcd reported.
	// +optional
	// +listType=map
	// +listMapKey=id
	Membership []MemberIdentity `json:"membership,omitempty"`

	// serial is the highest number of a member so far. Each member has its own.
	// +optional
	Serial int64 `json:"serial,omitempty"`

	// currentVersion is the lowest version of the members.
	// +optional
	CurrentVersion string `json:"currentVersion,omitempty"`

	// targetVersion is the version to which members are changing; empty when none is.
	// +optional
	TargetVersion string `json:"targetVersion,omitempty"`

	// lineage identifies the restore that the data comes from: the UID of the EtcdRestore, or the name of a
	// recovery; empty if the cluster was never restored.
	// +optional
	Lineage string `json:"lineage,omitempty"`

	// restore is the last EtcdRestore or recovery that the operator has started.
	// +optional
	Restore *RestoreProgress `json:"restore,omitempty"`

	// decided is the position of the log when another field of this status last changed: an operator that starts
	// after the loss of the quorum knows nothing newer.
	// +optional
	Decided *Decided `json:"decided,omitempty"`

	// quorumLoss is set while there is no quorum.
	// +optional
	QuorumLoss *QuorumLoss `json:"quorumLoss,omitempty"`

	// formedWith is the lowest version in the spec until the cluster was formed. Members wrote the start of their
	// logs with it; if it is empty, that may have been any version.
	// +optional
	FormedWith string `json:"formedWith,omitempty"`

	// snapshotFrom is the index in the log at which the members agreed on 3.6 or later: earlier entries may be
	// unreadable for etcd 3.7. A member runs 3.7 only with a later snapshot. It is empty if the cluster was
	// formed with 3.6 or later.
	// +optional
	SnapshotFrom int64 `json:"snapshotFrom,omitempty"`

	// selector selects the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the cluster; Ready summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MembersStatus are the pods by whether they are ready.
type MembersStatus struct {
	// ready are the names of ready pods.
	// +optional
	// +listType=atomic
	Ready []string `json:"ready,omitempty"`
	// unready are the names of the others.
	// +optional
	// +listType=atomic
	Unready []string `json:"unready,omitempty"`
}

// MemberIdentity is a member as etcd knows it.
type MemberIdentity struct {
	// id is etcd's ID of the member, in hexadecimal.
	// +required
	ID string `json:"id"`
	// name is the name of the member's pod.
	// +optional
	Name string `json:"name,omitempty"`
	// learner reports whether the member does not vote yet.
	// +optional
	Learner bool `json:"learner,omitempty"`
}

// RestoreProgress is the progress of an EtcdRestore, or of the recovery from a lost quorum.
type RestoreProgress struct {
	// uid of the EtcdRestore, or the name of the recovery.
	// +optional
	UID string `json:"uid,omitempty"`
	// phase is Restoring, Restored or Abandoned.
	// +optional
	Phase string `json:"phase,omitempty"`
	// serial is the number of the member that starts from the backup.
	// +optional
	Serial int64 `json:"serial,omitempty"`
	// since is the number of the member from which the cluster started in an earlier restore, if there was one:
	// members with lower numbers are older than that restore.
	// +optional
	Since int64 `json:"since,omitempty"`
	// formerVoters is the number of voters when the cluster switched to the restored data. While a majority of
	// them may still run, the Service for clients has no endpoint.
	// +optional
	FormerVoters int32 `json:"formerVoters,omitempty"`
	// above is the highest revision that clients may have seen, as far as is known: the restored data starts
	// above it, so that no revision is used twice.
	// +optional
	Above int64 `json:"above,omitempty"`
	// object is the backup, revision the one at which the restored cluster started.
	// +optional
	Object string `json:"object,omitempty"`
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// savedAt is when the backup was saved, as its record says.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// reason and message describe what blocks it.
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// recovery is set if this is the recovery from a lost quorum, and not a restore that a user requested.
	// +optional
	Recovery *QuorumRecovery `json:"recovery,omitempty"`
}

// TookUp reports whether this is the progress of the EtcdRestore, or follows its completion.
func (p *RestoreProgress) TookUp(restore types.UID) bool {
	return p != nil && (p.UID == string(restore) || p.Recovery != nil && p.Recovery.Former == string(restore))
}

// Began is the number of the member from which the present cluster started in a restore, 0 if there was none.
func (p *RestoreProgress) Began() int64 {
	switch {
	case p == nil:
		return 0
	case p.Phase == PhaseRestored:
		return p.Serial
	}
	return p.Since
}

// Phases of a restore. The cluster has its old data until the phase is Restored, and the data of the
// backup from then on.
const (
	PhaseRestoring = "Restoring"
	PhaseRestored  = "Restored"
	PhaseAbandoned = "Abandoned"
)
