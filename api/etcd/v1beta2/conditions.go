// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import "github.com/opcrew/opcrew/api/common"

// Condition types of an EtcdCluster, in addition to common.ConditionLeftovers, ConditionPlacement and ConditionPaused.
// Available, Recovering, Scaling and Upgrading are those of the CoreOS operator. The last three exist only while the
// change goes on.
const (
	// EtcdClusterReady summarizes the others: it is False with the first blocking cause.
	EtcdClusterReady = "Ready"
	// EtcdClusterChildrenReady reports whether Services, disruption budget, claims and pods are as declared.
	EtcdClusterChildrenReady = "ChildrenReady"
	// EtcdClusterAvailable reports whether a quorum of voters is healthy; the message gives the numbers.
	EtcdClusterAvailable = "Available"
	// EtcdClusterMembersReady reports whether the cluster has the desired number of members, all of them
	// healthy voters, and what blocks the first one that is not.
	EtcdClusterMembersReady = "MembersReady"
	// EtcdClusterUpToDate reports whether every member matches the spec.
	EtcdClusterUpToDate = "UpToDate"
	// EtcdClusterTLSReady reports whether the certificates in the Secrets are valid for the cluster.
	EtcdClusterTLSReady = "TLSReady"
	// EtcdClusterFieldsIgnored exists while the spec has fields without effect; the message names them, and what to do.
	EtcdClusterFieldsIgnored = "FieldsIgnored"
	// EtcdClusterRecovering exists while a member is being replaced.
	EtcdClusterRecovering = "Recovering"
	// EtcdClusterScaling exists while members are added or removed.
	EtcdClusterScaling = "Scaling"
	// EtcdClusterUpgrading exists while members change their version.
	EtcdClusterUpgrading = "Upgrading"
)

// Reasons of an EtcdCluster's conditions, in addition to those of every kind.
const (
	// ReasonClusterAvailable: a quorum of voters is healthy.
	ReasonClusterAvailable = "ClusterAvailable"
	// ReasonCreating: the first members are starting.
	ReasonCreating = common.ReasonCreating
	// ReasonQuorumLost: fewer voters are healthy than a quorum needs.
	ReasonQuorumLost = "QuorumLost"
	// ReasonStatusLost: the status records no cluster, but members of one exist. The operator changes nothing then.
	ReasonStatusLost = "StatusLost"
	// ReasonClusterIDMismatch: a different cluster than the recorded one answers at the members' addresses. The operator changes nothing then.
	ReasonClusterIDMismatch = "ClusterIDMismatch"
	// ReasonForeignURL: a member publishes a URL that leads to no pod of the cluster. The operator does not use it.
	ReasonForeignURL = "ForeignURL"
	// ReasonVariablesShadowed: flags of the operator override environment variables of etcd.
	ReasonVariablesShadowed = "VariablesShadowed"
	// ReasonUnreachable: the operator cannot reach the members, which may be healthy.
	ReasonUnreachable = "Unreachable"
	// ReasonNoSpace: the data of a member has reached its quota, and etcd refuses writes.
	ReasonNoSpace = "NoSpace"
	// ReasonCorrupt: etcd found that members have different data, and refuses writes.
	ReasonCorrupt = "Corrupt"
	// ReasonAllMembersReady: the cluster has the desired number of members, all healthy.
	ReasonAllMembersReady = "AllMembersReady"
	// ReasonMemberNotReady: a member is not healthy, and may recover by itself.
	ReasonMemberNotReady = "MemberNotReady"
	// ReasonMemberLost: a member has lost its volume or its node and is being replaced.
	ReasonMemberLost = "MemberLost"
	// ReasonScalingUp and ReasonScalingDown: the number of members changes.
	ReasonScalingUp   = "ScalingUp"
	ReasonScalingDown = "ScalingDown"
	// ReasonClusterUpgrading: members change their version.
	ReasonClusterUpgrading = "ClusterUpgrading"
	// ReasonClusterUpgraded: all members run the target version.
	ReasonClusterUpgraded = "ClusterUpgraded"
	// ReasonRecovering: the cluster continues from the data that is left, after a permanent loss of its quorum.
	ReasonRecovering = "Recovering"
	// ReasonRecovered: the cluster has recovered from a permanent loss of its quorum.
	ReasonRecovered = "Recovered"
	// ReasonReplacingMember: a member is being replaced.
	ReasonReplacingMember = "ReplacingMember"
	// ReasonAllUpToDate: every member matches the spec.
	ReasonAllUpToDate = "AllUpToDate"
	// ReasonVolumesGrowing: volumes grow to the size in the spec. Members keep serving.
	ReasonVolumesGrowing = "VolumesGrowing"
	// ReasonVolumesFixed: a volume cannot get the size in the spec; the message says why and what to do.
	ReasonVolumesFixed = "VolumesFixed"
	// ReasonImpossibleVersion: etcd cannot be upgraded from the running version to the desired one.
	ReasonImpossibleVersion = "ImpossibleVersion"
	// ReasonInvalidSpec: the spec is invalid; the message says what to write instead.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonHibernating: spec.hibernate has stopped the members; the claims are kept.
	ReasonHibernating = "Hibernating"
	// ReasonCertificatesFit: the certificates are valid and name the members.
	ReasonCertificatesFit = "CertificatesFit"
	// ReasonSecretMissing: a Secret or one of its keys does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonCertificatesUnfit: a certificate does not parse, has expired, does not name the members, or
	// is not trusted by the other side.
	ReasonCertificatesUnfit = "CertificatesUnfit"
)

// EtcdRestoreReady is True when the cluster serves the restored data.
const EtcdRestoreReady = "Ready"

// Reasons of an EtcdRestore's condition, and of an EtcdCluster's during a restore. A failed pod gives its own
// reason: internal/podapi/backup lists them.
const (
	// ReasonRestored: the cluster serves the restored data.
	ReasonRestored = "Restored"
	// ReasonRestoring: a member starts from the backup; the cluster is unchanged until that member serves.
	ReasonRestoring = "Restoring"
	// ReasonAbandoned: the restore was deleted before it finished, and the cluster is unchanged.
	ReasonAbandoned = "Abandoned"
)

// Condition types of an EtcdBackup.
const (
	// EtcdBackupReady summarizes the others: it is True while the last backup succeeded, and could be restored if
	// that was tried.
	EtcdBackupReady = "Ready"
	// EtcdBackupSaved reports whether the last backup succeeded. It stays True while the next one runs.
	EtcdBackupSaved = "Saved"
	// EtcdBackupVerified reports whether the last verified backup could be restored; only with spec.verify.
	EtcdBackupVerified = "Verified"
)

// Reasons of an EtcdBackup's conditions. A failed pod gives its own reason: internal/podapi/backup
// lists them.
const (
	// ReasonSaved: the last backup is complete.
	ReasonSaved = "Saved"
	// ReasonRestorable: a backup was restored in a temporary pod, and matched its record.
	ReasonRestorable = "Restorable"
	// ReasonRunning: a pod runs the backup.
	ReasonRunning = "Running"
	// ReasonWaiting: the first backup is not due yet.
	ReasonWaiting = "Waiting"
	// ReasonSuspended: spec.suspend prevents new backups.
	ReasonSuspended = "Suspended"
	// ReasonRetrying: an attempt failed or does not start; the message says why, and the operator tries again.
	ReasonRetrying = "Retrying"
	// ReasonBackupFailed: a backup failed and its pod gave no reason.
	ReasonBackupFailed = "BackupFailed"
	// ReasonClusterMissing and ReasonClusterNotReady: the EtcdCluster does not exist, or has no members.
	ReasonClusterMissing  = "ClusterMissing"
	ReasonClusterNotReady = "ClusterNotReady"
	// ReasonClaimMissing: the claim for backups does not exist.
	ReasonClaimMissing = "ClaimMissing"
)
