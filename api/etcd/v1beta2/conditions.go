// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import "github.com/opcrew/opcrew/api/common"

// Condition types of an EtcdCluster. Available, Recovering, Scaling and Upgrading are those of
// the CoreOS operator: the last three are there only while what they tell of goes on. Beside these there are
// common.ConditionLeftovers, common.ConditionPlacement and common.ConditionPaused.
const (
	// EtcdClusterReady sums up the others: it is False with the first blocking cause.
	EtcdClusterReady = "Ready"
	// EtcdClusterChildrenReady tells whether Services, disruption budget, claims and pods are as declared.
	EtcdClusterChildrenReady = "ChildrenReady"
	// EtcdClusterAvailable tells whether a quorum of voters is healthy, with the arithmetic.
	EtcdClusterAvailable = "Available"
	// EtcdClusterMembersReady tells whether there are as many members as asked for, all of them
	// healthy voters, and what keeps the first that is not.
	EtcdClusterMembersReady = "MembersReady"
	// EtcdClusterUpToDate tells whether every member runs what the spec says.
	EtcdClusterUpToDate = "UpToDate"
	// EtcdClusterTLSReady tells whether the certificates in the Secrets fit the cluster.
	EtcdClusterTLSReady = "TLSReady"
	// EtcdClusterFieldsIgnored is there while the spec has something without effect; the message names it, and what to do.
	EtcdClusterFieldsIgnored = "FieldsIgnored"
	// EtcdClusterRecovering is there while a member is being replaced.
	EtcdClusterRecovering = "Recovering"
	// EtcdClusterScaling is there while members are added or taken away.
	EtcdClusterScaling = "Scaling"
	// EtcdClusterUpgrading is there while members change their version.
	EtcdClusterUpgrading = "Upgrading"
)

// Reasons of an EtcdCluster's conditions, beside those that every kind shares.
const (
	// ReasonClusterAvailable: a quorum of voters is healthy.
	ReasonClusterAvailable = "ClusterAvailable"
	// ReasonCreating: the first members are starting.
	ReasonCreating = common.ReasonCreating
	// ReasonQuorumLost: fewer voters are healthy than a decision needs.
	ReasonQuorumLost = "QuorumLost"
	// ReasonStatusLost: the status knows of no cluster, and there are members of one. Nothing is changed then.
	ReasonStatusLost = "StatusLost"
	// ReasonClusterIDMismatch: another cluster answers at the members' addresses than the status names. Nothing is changed then.
	ReasonClusterIDMismatch = "ClusterIDMismatch"
	// ReasonVariablesShadowed: environment variables of etcd say what flags of the operator say.
	ReasonVariablesShadowed = "VariablesShadowed"
	// ReasonUnreachable: the operator cannot ask the members, whatever they do.
	ReasonUnreachable = "Unreachable"
	// ReasonNoSpace: the data of a member is as large as it may be, and writes are refused.
	ReasonNoSpace = "NoSpace"
	// ReasonCorrupt: members have not the same data, for all that etcd knows, and writes are refused.
	ReasonCorrupt = "Corrupt"
	// ReasonAllMembersReady: there are as many members as asked for, all healthy.
	ReasonAllMembersReady = "AllMembersReady"
	// ReasonMemberNotReady: a member is not healthy, and may come back by itself.
	ReasonMemberNotReady = "MemberNotReady"
	// ReasonMemberLost: a member has lost its volume or its node and is being replaced.
	ReasonMemberLost = "MemberLost"
	// ReasonScalingUp and ReasonScalingDown: the number of members changes.
	ReasonScalingUp   = "ScalingUp"
	ReasonScalingDown = "ScalingDown"
	// ReasonClusterUpgrading: members change their version.
	ReasonClusterUpgrading = "ClusterUpgrading"
	// ReasonClusterUpgraded: all members run the version that they went to.
	ReasonClusterUpgraded = "ClusterUpgraded"
	// ReasonRecovering: the cluster goes on from what is left of it, after it had lost its quorum for good.
	ReasonRecovering = "Recovering"
	// ReasonRecovered: it has.
	ReasonRecovered = "Recovered"
	// ReasonReplacingMember: a member is being replaced.
	ReasonReplacingMember = "ReplacingMember"
	// ReasonAllUpToDate: every member runs what the spec says.
	ReasonAllUpToDate = "AllUpToDate"
	// ReasonVolumesGrowing: volumes are being given the size of the spec. Members serve all the same.
	ReasonVolumesGrowing = "VolumesGrowing"
	// ReasonVolumesFixed: a volume cannot have the size of the spec; the message says why and what to do.
	ReasonVolumesFixed = "VolumesFixed"
	// ReasonImpossibleVersion: there is no way from the version that runs to the one asked for.
	ReasonImpossibleVersion = "ImpossibleVersion"
	// ReasonInvalidSpec: the spec asks for what cannot be; the message says what to write instead.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonHibernating: the spec says so; the claims are kept.
	ReasonHibernating = "Hibernating"
	// ReasonCertificatesFit: the certificates are valid and name the members.
	ReasonCertificatesFit = "CertificatesFit"
	// ReasonSecretMissing: a Secret or one of its keys is not there.
	ReasonSecretMissing = "SecretMissing"
	// ReasonCertificatesUnfit: a certificate does not parse, has expired, does not name the members, or
	// is not trusted by the other side.
	ReasonCertificatesUnfit = "CertificatesUnfit"
)

// EtcdRestoreReady is True when the cluster serves what was restored.
const EtcdRestoreReady = "Ready"

// Reasons of an EtcdRestore's condition, and of an EtcdCluster's while one is at work. When the pod has failed
// it is the reason that it gave, as internal/podapi/backup lists them.
const (
	// ReasonRestored: the cluster serves what was restored.
	ReasonRestored = "Restored"
	// ReasonRestoring: a member begins with the backup; the cluster is what it was until that serves.
	ReasonRestoring = "Restoring"
	// ReasonAbandoned: the restore was deleted before it was done, and the cluster is what it was.
	ReasonAbandoned = "Abandoned"
)

// Condition types of an EtcdBackup.
const (
	// EtcdBackupReady sums up the others: it is True while the last backup succeeded, and was restorable if
	// it was tried.
	EtcdBackupReady = "Ready"
	// EtcdBackupSaved tells whether the last backup succeeded. It stays True while the next is made.
	EtcdBackupSaved = "Saved"
	// EtcdBackupVerified tells whether the last backup that was tried could be restored; only with spec.verify.
	EtcdBackupVerified = "Verified"
)

// Reasons of an EtcdBackup's conditions. When a pod has failed it is the reason that it gave, as
// internal/podapi/backup lists them.
const (
	// ReasonSaved: the last backup is complete.
	ReasonSaved = "Saved"
	// ReasonRestorable: a backup was restored in a throw-away pod, and had what was recorded of it.
	ReasonRestorable = "Restorable"
	// ReasonRunning: a pod is at work.
	ReasonRunning = "Running"
	// ReasonWaiting: the first backup is not due yet.
	ReasonWaiting = "Waiting"
	// ReasonSuspended: the spec says that none is begun.
	ReasonSuspended = "Suspended"
	// ReasonRetrying: an attempt failed or does not begin; the message says why, and it is tried again.
	ReasonRetrying = "Retrying"
	// ReasonBackupFailed: a backup failed and its pod gave no reason.
	ReasonBackupFailed = "BackupFailed"
	// ReasonClusterMissing and ReasonClusterNotReady: the EtcdCluster is not there, or has no members.
	ReasonClusterMissing  = "ClusterMissing"
	ReasonClusterNotReady = "ClusterNotReady"
	// ReasonClaimMissing: the claim for backups is not there.
	ReasonClaimMissing = "ClaimMissing"
)
