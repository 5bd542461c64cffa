// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import "github.com/opcrew/opcrew/api/common"

// Condition types of an EtcdCluster, in addition to ConditionLeftovers, ConditionPlacement and ConditionPaused of
// package common. Available, Recovering, Scaling and Upgrading come from the CoreOS operator. Recovering, Scaling and
// Upgrading exist only while such a change is in progress.
const (
	// EtcdClusterReady summarizes the other conditions. While one of them reports a problem, Ready is not True, and has
	// the reason of the most important condition that reports a problem.
	EtcdClusterReady = "Ready"
	// EtcdClusterChildrenReady reports whether the Services, the PodDisruptionBudget, the claims and the pods have the
	// fields that the operator declares for them.
	EtcdClusterChildrenReady = "ChildrenReady"
	// EtcdClusterAvailable reports whether a quorum of voters is healthy. Its message says how many are healthy, and
	// how many a quorum needs.
	EtcdClusterAvailable = "Available"
	// EtcdClusterMembersReady reports whether the cluster has the desired number of members, all of them healthy
	// voters. Its message says what blocks the first member that is not.
	EtcdClusterMembersReady = "MembersReady"
	// EtcdClusterUpToDate reports whether every member matches the spec.
	EtcdClusterUpToDate = "UpToDate"
	// EtcdClusterTLSReady reports whether the Secrets contain certificates that are valid for the cluster.
	EtcdClusterTLSReady = "TLSReady"
	// EtcdClusterFieldsIgnored exists while the spec sets fields that have no effect. The message names them, and says
	// what to do.
	EtcdClusterFieldsIgnored = "FieldsIgnored"
	// EtcdClusterRecovering exists while the operator replaces a member.
	EtcdClusterRecovering = "Recovering"
	// EtcdClusterScaling exists while the operator adds or removes members.
	EtcdClusterScaling = "Scaling"
	// EtcdClusterUpgrading exists while the operator moves members to another version.
	EtcdClusterUpgrading = "Upgrading"
)

// Condition reasons of an EtcdCluster, in addition to the reasons that all kinds share.
const (
	// ReasonClusterAvailable: a quorum of voters is healthy.
	ReasonClusterAvailable = "ClusterAvailable"
	// ReasonCreating: the first members of the cluster are starting.
	ReasonCreating = common.ReasonCreating
	// ReasonQuorumLost: too few voters are healthy for a quorum, so etcd accepts no writes.
	ReasonQuorumLost = "QuorumLost"
	// ReasonStatusLost: the status does not record a cluster ID, but members of a cluster exist. The operator changes
	// nothing, because it does not know whether these members belong to this object.
	ReasonStatusLost = "StatusLost"
	// ReasonClusterIDMismatch: the members' addresses lead to a cluster with another ID than the status records. The
	// operator changes nothing.
	ReasonClusterIDMismatch = "ClusterIDMismatch"
	// ReasonForeignURL: a member publishes a URL that leads to no pod of the cluster. The operator does not connect to
	// it.
	ReasonForeignURL = "ForeignURL"
	// ReasonVariablesShadowed: environment variables in pod.etcdEnv have no effect, because flags that the operator
	// sets override them.
	ReasonVariablesShadowed = "VariablesShadowed"
	// ReasonUnreachable: the operator cannot connect to the members. They may still be healthy and serve clients.
	ReasonUnreachable = "Unreachable"
	// ReasonNoSpace: the data of a member has reached its space quota, so etcd refuses writes (alarm NOSPACE).
	ReasonNoSpace = "NoSpace"
	// ReasonCorrupt: etcd found that members have different data, so it refuses writes (alarm CORRUPT).
	ReasonCorrupt = "Corrupt"
	// ReasonAllMembersReady: the cluster has the desired number of members, and all of them are healthy voters.
	ReasonAllMembersReady = "AllMembersReady"
	// ReasonMemberNotReady: a member is not healthy. It may recover without help.
	ReasonMemberNotReady = "MemberNotReady"
	// ReasonMemberLost: a member has lost its volume or its node, so the operator is replacing it.
	ReasonMemberLost = "MemberLost"
	// ReasonScalingUp and ReasonScalingDown: the operator is adding or removing members.
	ReasonScalingUp   = "ScalingUp"
	ReasonScalingDown = "ScalingDown"
	// ReasonClusterUpgrading: the operator is moving members to another version.
	ReasonClusterUpgrading = "ClusterUpgrading"
	// ReasonClusterUpgraded: all members run the version in the spec.
	ReasonClusterUpgraded = "ClusterUpgraded"
	// ReasonRecovering: the quorum is permanently lost, and the operator is restarting the cluster from the newest data
	// that is left.
	ReasonRecovering = "Recovering"
	// ReasonRecovered: the cluster serves again after the operator recovered it from a permanently lost quorum.
	ReasonRecovered = "Recovered"
	// ReasonReplacingMember: the operator is replacing a member.
	ReasonReplacingMember = "ReplacingMember"
	// ReasonAllUpToDate: every member matches the spec.
	ReasonAllUpToDate = "AllUpToDate"
	// ReasonVolumesGrowing: volumes are growing to the size in the spec. Members serve clients meanwhile.
	ReasonVolumesGrowing = "VolumesGrowing"
	// ReasonVolumesFixed: a volume cannot get the size in the spec. The message says why, and what to do.
	ReasonVolumesFixed = "VolumesFixed"
	// ReasonImpossibleVersion: etcd cannot be upgraded from the running version to the desired one.
	ReasonImpossibleVersion = "ImpossibleVersion"
	// ReasonInvalidSpec: the spec is invalid. The message says what to write instead.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonHibernating: spec.hibernate has stopped all members. Their claims are kept.
	ReasonHibernating = "Hibernating"
	// ReasonCertificatesFit: the certificates are valid, and they contain the members' names.
	ReasonCertificatesFit = "CertificatesFit"
	// ReasonSecretMissing: a Secret with certificates, or a key in it, does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonCertificatesUnfit: a certificate cannot be parsed, has expired, does not contain the members' names, or is
	// not signed by an authority that the other side trusts.
	ReasonCertificatesUnfit = "CertificatesUnfit"
)

// EtcdRestoreReady is True when the cluster serves the restored data.
const EtcdRestoreReady = "Ready"

// Condition reasons of an EtcdRestore, and of an EtcdCluster during a restore. If a restore pod fails, the condition
// has the reason that the pod reported. Package internal/podapi/backup lists the reasons of pods.
const (
	// ReasonRestored: the cluster serves the restored data.
	ReasonRestored = "Restored"
	// ReasonRestoring: a member is starting from the backup. The cluster keeps its data until that member serves.
	ReasonRestoring = "Restoring"
	// ReasonAbandoned: the restore was deleted before it finished, so the cluster keeps its data.
	ReasonAbandoned = "Abandoned"
)

// Condition types of an EtcdBackup.
const (
	// EtcdBackupReady summarizes the other conditions. It is True while the last backup succeeded and the last
	// verification, if there was one, succeeded.
	EtcdBackupReady = "Ready"
	// EtcdBackupSaved reports whether the last backup succeeded. It stays True while the next backup runs.
	EtcdBackupSaved = "Saved"
	// EtcdBackupVerified reports whether the backup that was verified last could be restored. It exists only with
	// spec.verify.
	EtcdBackupVerified = "Verified"
)

// Condition reasons of an EtcdBackup. If a backup pod fails, the condition has the reason that the pod reported.
// Package internal/podapi/backup lists the reasons of pods.
const (
	// ReasonSaved: the last backup is complete in its storage.
	ReasonSaved = "Saved"
	// ReasonRestorable: a pod restored a backup for a test, and the result matched the record of the backup.
	ReasonRestorable = "Restorable"
	// ReasonRunning: a pod is saving a backup.
	ReasonRunning = "Running"
	// ReasonWaiting: the first backup is not due yet.
	ReasonWaiting = "Waiting"
	// ReasonSuspended: spec.suspend prevents new backups.
	ReasonSuspended = "Suspended"
	// ReasonRetrying: an attempt failed or did not start. The message says why, and the operator tries again.
	ReasonRetrying = "Retrying"
	// ReasonBackupFailed: a backup failed, and its pod reported no reason.
	ReasonBackupFailed = "BackupFailed"
	// ReasonClusterMissing and ReasonClusterNotReady: the EtcdCluster in spec.etcdCluster does not exist, or has no
	// members.
	ReasonClusterMissing  = "ClusterMissing"
	ReasonClusterNotReady = "ClusterNotReady"
	// ReasonClaimMissing: the PersistentVolumeClaim in which backups are saved does not exist.
	ReasonClaimMissing = "ClaimMissing"
)
