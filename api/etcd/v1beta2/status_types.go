// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Phases of an EtcdCluster, as the CoreOS operator had them. There Failed was for ever; here it
// is for as long as the spec asks for what cannot be.
const (
	PhaseCreating = "Creating"
	PhaseRunning  = "Running"
	PhaseFailed   = "Failed"
)

// EtcdClusterStatus is what was seen of the cluster.
type EtcdClusterStatus struct {
	// phase is Creating until the first members have formed a cluster, then Running; Failed while the spec
	// asks for what cannot be.
	// +optional
	Phase string `json:"phase,omitempty"`

	// reason says why the phase is Failed.
	// +optional
	Reason string `json:"reason,omitempty"`

	// controlPaused tells whether changes are held back.
	// +optional
	ControlPaused bool `json:"controlPaused,omitempty"`

	// clusterID is etcd's own name for the cluster, in hexadecimal. It stands here from the moment on that the
	// first members were seen to have formed it: from then on no member may start on an empty volume.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`

	// formerClusterIDs are the last ten that it had before, the latest first: a restore, and the recovery from a
	// lost quorum, give it another. Backups of these are of its data, too.
	// +optional
	// +listType=atomic
	FormerClusterIDs []string `json:"formerClusterIDs,omitempty"`

	// size is the number of members, as etcd itself counts them.
	// +optional
	Size int32 `json:"size,omitempty"`

	// quorum tells how many voters are healthy, of how many, and how many a decision needs.
	// +optional
	Quorum string `json:"quorum,omitempty"`

	// serviceName is the Service for clients.
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// clientPort is its port.
	// +optional
	ClientPort int32 `json:"clientPort,omitempty"`

	// connectionConfigMap names a ConfigMap with what clients need: endpoints, and the Secret for TLS.
	// +optional
	ConnectionConfigMap string `json:"connectionConfigMap,omitempty"`

	// members are the pods by whether they are ready.
	// +optional
	Members MembersStatus `json:"members,omitempty"`

	// membership is the last that etcd itself said of who belongs to the cluster.
	// +optional
	// +listType=map
	// +listMapKey=id
	Membership []MemberIdentity `json:"membership,omitempty"`

	// serial is the highest number that a member was made of. Each member has one of its own.
	// +optional
	Serial int64 `json:"serial,omitempty"`

	// currentVersion is the lowest that any member runs.
	// +optional
	CurrentVersion string `json:"currentVersion,omitempty"`

	// targetVersion is the one that members are changing to; empty when none is.
	// +optional
	TargetVersion string `json:"targetVersion,omitempty"`

	// lineage names the restore whose data the cluster has: the UID of the EtcdRestore, or the name of a recovery;
	// empty for the data that it began with.
	// +optional
	Lineage string `json:"lineage,omitempty"`

	// restore is the last EtcdRestore, or recovery, that the cluster has taken up.
	// +optional
	Restore *RestoreProgress `json:"restore,omitempty"`

	// decided is how far the cluster was when something else of this status changed last: an operator that
	// begins when the quorum is gone knows nothing newer.
	// +optional
	Decided *Decided `json:"decided,omitempty"`

	// quorumLoss is there while no quorum can decide.
	// +optional
	QuorumLoss *QuorumLoss `json:"quorumLoss,omitempty"`

	// formedWith is the lowest version that was asked for until the cluster was formed. Its members wrote the
	// beginning of their logs with it; if it is not known, any version may have.
	// +optional
	FormedWith string `json:"formedWith,omitempty"`

	// snapshotFrom is an index in the log, where the members agreed on 3.6 or later: before it there may be
	// entries that etcd 3.7 cannot read. A member runs 3.7 only with a snapshot from after it. It is empty if
	// the cluster was formed with 3.6 or later.
	// +optional
	SnapshotFrom int64 `json:"snapshotFrom,omitempty"`

	// selector selects the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the cluster; Ready sums up the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MembersStatus are the pods by whether they are ready.
type MembersStatus struct {
	// ready are the names of the pods that are.
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
	// id is etcd's own name for the member, in hexadecimal.
	// +required
	ID string `json:"id"`
	// name is that of the member's pod.
	// +optional
	Name string `json:"name,omitempty"`
	// learner tells that the member does not vote yet.
	// +optional
	Learner bool `json:"learner,omitempty"`
}

// RestoreProgress is how far an EtcdRestore is, or the recovery from a lost quorum.
type RestoreProgress struct {
	// uid of the EtcdRestore, or the name of the recovery.
	// +optional
	UID string `json:"uid,omitempty"`
	// phase is Restoring, Restored or Abandoned.
	// +optional
	Phase string `json:"phase,omitempty"`
	// serial is the number of the member that begins with the backup.
	// +optional
	Serial int64 `json:"serial,omitempty"`
	// since is that of the member that the cluster began with in an earlier restore, if there was one: what has a
	// lower number is of before that.
	// +optional
	Since int64 `json:"since,omitempty"`
	// formerVoters is how many voted when the cluster went over to it. As long as a majority of them may still run
	// somewhere, clients are led to nobody.
	// +optional
	FormerVoters int32 `json:"formerVoters,omitempty"`
	// above is the highest revision that clients may have seen before, as far as is known: what is restored starts
	// above it, so that none is used twice.
	// +optional
	Above int64 `json:"above,omitempty"`
	// object is the backup, revision what the restored cluster started at.
	// +optional
	Object string `json:"object,omitempty"`
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// savedAt is when the backup was saved, as its record says.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// reason and message tell what keeps it from going on.
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// recovery is there where nobody has asked for a restore, but a quorum was lost.
	// +optional
	Recovery *QuorumRecovery `json:"recovery,omitempty"`
}

// TookUp tells whether it is about an EtcdRestore, or follows one that was carried out.
func (p *RestoreProgress) TookUp(restore types.UID) bool {
	return p != nil && (p.UID == string(restore) || p.Recovery != nil && p.Recovery.Former == string(restore))
}

// Began is the number of the member that the cluster as it is began with in a restore, 0 if there was none.
func (p *RestoreProgress) Began() int64 {
	switch {
	case p == nil:
		return 0
	case p.Phase == PhaseRestored:
		return p.Serial
	}
	return p.Since
}

// Phases of a restore. Until it is Restored the cluster is what it was; from then on it is what the
// backup was.
const (
	PhaseRestoring = "Restoring"
	PhaseRestored  = "Restored"
	PhaseAbandoned = "Abandoned"
)
