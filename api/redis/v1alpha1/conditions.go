// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "github.com/opcrew/opcrew/api/common"

// Condition types of a RedisEnterpriseCluster, in addition to common.ConditionLeftovers and ConditionPlacement. The
// last eight exist only while they apply.
const (
	// ConditionReady summarizes the others: it is False with the first blocking cause.
	ConditionReady = "Ready"
	// ConditionChildrenReady reports whether StatefulSet, Services, Secrets and disruption budget are as declared.
	ConditionChildrenReady = "ChildrenReady"
	// ConditionAvailable reports whether each of the 16384 slots is served; the message gives the numbers.
	ConditionAvailable = common.ConditionAvailable
	// ConditionRedundant reports whether each shard has a replica in sync on another pod.
	ConditionRedundant = "Redundant"
	// ConditionPodsReady reports whether the cluster has the desired number of pods, each with its role in the
	// ring, and what blocks the first one that has not.
	ConditionPodsReady = "PodsReady"
	// ConditionUpToDate reports whether every pod and its volume match the spec.
	ConditionUpToDate = "UpToDate"
	// ConditionMigrating is True while slots move between pods.
	ConditionMigrating = "Migrating"
	// ConditionDataAtRisk is True while one more failure, or the requested change, would lose data; the
	// change is then not made.
	ConditionDataAtRisk = "DataAtRisk"
	// ConditionMemoryFull is True while a primary has used all of its memory and refuses writes.
	ConditionMemoryFull = "MemoryFull"
	// ConditionStorageFailing is True while a server cannot write its append-only file, for example because its volume
	// is full. A primary then refuses writes.
	ConditionStorageFailing = "StorageFailing"
	// ConditionRecoveryRequested is True while spec.clusterRecovery is set; the message says what is left to recover, and
	// what that waits for.
	ConditionRecoveryRequested = "RecoveryRequested"
	// ConditionFieldsIgnored is True while the spec has fields that are accepted and not served; the message names them.
	ConditionFieldsIgnored = "FieldsIgnored"
	// ConditionImageReplaced is True while the operator's default image replaces the vendor's.
	ConditionImageReplaced = "ImageReplaced"
	// ConditionSpecNormalized is True while an amount in the spec is corrected; the message gives the result.
	ConditionSpecNormalized = "SpecNormalized"
	// ConditionCertificateUnused is True while the status page cannot use the certificate that the spec names.
	ConditionCertificateUnused = "CertificateUnused"
)

// Reasons of the conditions, in addition to those of every kind.
const (
	// ReasonAllSlotsServed: each of the 16384 slots has a primary that serves it.
	ReasonAllSlotsServed = "AllSlotsServed"
	// ReasonSlotsUnserved: some slots have no primary that serves them.
	ReasonSlotsUnserved = "SlotsUnserved"
	// ReasonQuorumLost: a majority of the primaries is down, so that no replica can be elected.
	ReasonQuorumLost = "QuorumLost"
	// ReasonUnreachable: the operator cannot reach the servers, which may be healthy.
	ReasonUnreachable = "Unreachable"
	// ReasonCreating: the servers start and form a cluster for the first time.
	ReasonCreating = common.ReasonCreating
	// ReasonRecovering: the servers form the cluster again, as after a restart of all of them.
	ReasonRecovering = "Recovering"
	// ReasonNotNeeded: there is nothing to recover.
	ReasonNotNeeded = "NotNeeded"
	// ReasonAllShardsReplicated: each shard has a replica in sync on another pod.
	ReasonAllShardsReplicated = "AllShardsReplicated"
	// ReasonReplicaMissing: a shard has no replica.
	ReasonReplicaMissing = "ReplicaMissing"
	// ReasonReplicaBehind: a shard's replica is syncing, or has lost its primary.
	ReasonReplicaBehind = "ReplicaBehind"
	// ReasonTooFewNodes: there is only one pod, and no other one for its replica.
	ReasonTooFewNodes = "TooFewNodes"
	// ReasonAllPodsReady: the cluster has the desired number of pods, each with its role in the ring.
	ReasonAllPodsReady = common.ReasonAllPodsReady
	// ReasonPodsNotReady: a pod is not ready and may need a user's help.
	ReasonPodsNotReady = common.ReasonPodsNotReady
	// ReasonPodsMissing: a quota or an admission rule refuses pods.
	ReasonPodsMissing = common.ReasonPodsMissing
	// ReasonFailingBack: primaries return to their home pods.
	ReasonFailingBack = "FailingBack"
	// ReasonScalingUp and ReasonScalingDown: the number of pods changes.
	ReasonScalingUp   = "ScalingUp"
	ReasonScalingDown = "ScalingDown"
	// ReasonRebalancing: slots move so that the pods have equal shares.
	ReasonRebalancing = "Rebalancing"
	// ReasonTooLittleMemory: data that must move does not fit into its target; the message gives the numbers.
	ReasonTooLittleMemory = "TooLittleMemory"
	// ReasonAllUpToDate: every pod matches the spec.
	ReasonAllUpToDate = "AllUpToDate"
	// ReasonInvalidSpec: the spec is invalid; the message says what to write instead.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonConfigRefused: the servers refuse a setting of redisConfig; the message quotes them.
	ReasonConfigRefused = "ConfigRefused"
	// ReasonVolumesFixed: the spec differs from the volumes with which the cluster was created, or they cannot grow as it
	// requests; everything else continues.
	ReasonVolumesFixed = "VolumesFixed"
	// ReasonVolumesGrowing: volumes grow, as enablePersistentVolumeResize requests.
	ReasonVolumesGrowing = "VolumesGrowing"
	// ReasonHibernating: spec.hibernate has stopped the pods; the claims are kept.
	ReasonHibernating = "Hibernating"
	// ReasonNoPersistence: there are no volumes, so the data would be lost with the pods.
	ReasonNoPersistence = "NoPersistence"
	// ReasonDataMissing: no server has the data of some slots. They are assigned again only when the user accepts
	// the loss with AcceptDataLossAnnotation.
	ReasonDataMissing = "DataMissing"
	// ReasonDataContested: servers that do not know each other claim the same slots, or share one identity. The
	// operator changes nothing that could make it worse.
	ReasonDataContested = "DataContested"
	// ReasonNotServed: the fields are about features that Redis and Valkey lack, or that the operator provides anyway.
	ReasonNotServed = "NotServed"
	// ReasonWritesRefused: the servers evict no keys to free memory.
	ReasonWritesRefused = "WritesRefused"
	// ReasonLogNotWritten: the disk is full, or fails.
	ReasonLogNotWritten = "LogNotWritten"
	// ReasonVendorImage: the image in the spec is the vendor's own, which contains no Redis server.
	ReasonVendorImage = "VendorImage"
	// ReasonBlanksDropped: an amount contains blanks, such as 4 Gi, which are dropped.
	ReasonBlanksDropped = "BlanksDropped"
	// ReasonInvalidCertificate: the Secret does not exist, lacks a key, or does not hold a valid pair.
	ReasonInvalidCertificate = "InvalidCertificate"
)
