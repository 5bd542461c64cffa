// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "github.com/opcrew/opcrew/api/common"

// Condition types of a RedisEnterpriseCluster. The last eight are there only while what they tell of is so; so is
// common.ConditionLeftovers. common.ConditionPlacement tells where the pods run.
const (
	// ConditionReady sums up the others: it is False with the first blocking cause.
	ConditionReady = "Ready"
	// ConditionChildrenReady tells whether StatefulSet, Services, Secrets and disruption budget are as declared.
	ConditionChildrenReady = "ChildrenReady"
	// ConditionAvailable tells whether each of the 16384 slots is served, with the arithmetic.
	ConditionAvailable = common.ConditionAvailable
	// ConditionRedundant tells whether each shard has a replica in sync on another pod.
	ConditionRedundant = "Redundant"
	// ConditionPodsReady tells whether there are as many pods as asked for, all of them with their role in
	// the ring, and what keeps the first that has not.
	ConditionPodsReady = "PodsReady"
	// ConditionUpToDate tells whether every pod runs what the spec says, with volumes as they are to be.
	ConditionUpToDate = "UpToDate"
	// ConditionMigrating is True while slots move between pods.
	ConditionMigrating = "Migrating"
	// ConditionDataAtRisk is True while data would be lost by one more failure, or by what the spec asks
	// for; what is asked for is then not done.
	ConditionDataAtRisk = "DataAtRisk"
	// ConditionMemoryFull: a primary has used all of its memory, and refuses writes. It is there only while that is so.
	ConditionMemoryFull = "MemoryFull"
	// ConditionStorageFailing: a server cannot write its log of writes, as when its volume is full; a primary refuses writes
	// then. It is there only while that is so.
	ConditionStorageFailing = "StorageFailing"
	// ConditionRecoveryRequested is True while the spec asks for clusterRecovery; it says what there is to recover, and what
	// that waits for.
	ConditionRecoveryRequested = "RecoveryRequested"
	// ConditionFieldsIgnored is True while the spec has fields that are accepted and not served; it names them.
	ConditionFieldsIgnored = "FieldsIgnored"
	// ConditionImageReplaced is True while the operator's default image runs in place of the vendor's.
	ConditionImageReplaced = "ImageReplaced"
	// ConditionSpecNormalized is True while an amount in the spec is read otherwise than it is written; it says as what.
	ConditionSpecNormalized = "SpecNormalized"
	// ConditionCertificateUnused is True while the status page cannot have the certificate that the spec names.
	ConditionCertificateUnused = "CertificateUnused"
)

// Reasons of the conditions, beside those that every kind shares.
const (
	// ReasonAllSlotsServed: each of the 16384 slots has a primary that serves it.
	ReasonAllSlotsServed = "AllSlotsServed"
	// ReasonSlotsUnserved: some slots have no primary that serves them.
	ReasonSlotsUnserved = "SlotsUnserved"
	// ReasonQuorumLost: fewer than half of the primaries are up, so that no replica can be elected.
	ReasonQuorumLost = "QuorumLost"
	// ReasonUnreachable: the operator cannot ask the servers, whatever they do.
	ReasonUnreachable = "Unreachable"
	// ReasonCreating: the servers start and form a cluster for the first time.
	ReasonCreating = common.ReasonCreating
	// ReasonRecovering: the servers find together again, as after a restart of all of them.
	ReasonRecovering = "Recovering"
	// ReasonNotNeeded: nothing is to be recovered.
	ReasonNotNeeded = "NotNeeded"
	// ReasonAllShardsReplicated: each shard has a replica in sync on another pod.
	ReasonAllShardsReplicated = "AllShardsReplicated"
	// ReasonReplicaMissing: a shard has no replica.
	ReasonReplicaMissing = "ReplicaMissing"
	// ReasonReplicaBehind: a shard's replica is being filled, or has lost its primary.
	ReasonReplicaBehind = "ReplicaBehind"
	// ReasonTooFewNodes: there is one pod only, and no other that could have its replica.
	ReasonTooFewNodes = "TooFewNodes"
	// ReasonAllPodsReady: there are as many pods as asked for, each with its role in the ring.
	ReasonAllPodsReady = common.ReasonAllPodsReady
	// ReasonPodsNotReady: a pod is not ready and may need a hand.
	ReasonPodsNotReady = common.ReasonPodsNotReady
	// ReasonPodsMissing: a quota or an admission rule refuses pods.
	ReasonPodsMissing = common.ReasonPodsMissing
	// ReasonFailingBack: primaries go back to the pods where they belong.
	ReasonFailingBack = "FailingBack"
	// ReasonScalingUp and ReasonScalingDown: the number of pods changes.
	ReasonScalingUp   = "ScalingUp"
	ReasonScalingDown = "ScalingDown"
	// ReasonRebalancing: slots move so that the pods have alike much of them.
	ReasonRebalancing = "Rebalancing"
	// ReasonTooLittleMemory: what would have to move does not fit where it would go; the message has the arithmetic.
	ReasonTooLittleMemory = "TooLittleMemory"
	// ReasonAllUpToDate: every pod runs what the spec says.
	ReasonAllUpToDate = "AllUpToDate"
	// ReasonInvalidSpec: the spec asks for what cannot be; the message says what to write instead.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonConfigRefused: the servers refuse a setting of redisConfig; the message has their words.
	ReasonConfigRefused = "ConfigRefused"
	// ReasonVolumesFixed: the spec asks for volumes other than those that the cluster was made with, or for larger ones
	// and they cannot grow; all else goes on.
	ReasonVolumesFixed = "VolumesFixed"
	// ReasonVolumesGrowing: volumes are being made larger, as enablePersistentVolumeResize asks for.
	ReasonVolumesGrowing = "VolumesGrowing"
	// ReasonHibernating: the spec says so; the claims are kept.
	ReasonHibernating = "Hibernating"
	// ReasonNoPersistence: there are no volumes, so that the data would go with the pods.
	ReasonNoPersistence = "NoPersistence"
	// ReasonDataMissing: slots have lost their data for all that any server says. They are given out again only
	// when the user accepts that, by AcceptDataLossAnnotation.
	ReasonDataMissing = "DataMissing"
	// ReasonDataContested: servers claim the same slots without knowing each other, or are the same one. Nothing
	// is done that would make it worse.
	ReasonDataContested = "DataContested"
	// ReasonNotServed: the fields stand for what is not in Redis or Valkey, or happens by itself.
	ReasonNotServed = "NotServed"
	// ReasonWritesRefused: no key is evicted to make room.
	ReasonWritesRefused = "WritesRefused"
	// ReasonLogNotWritten: the disk is full, or fails.
	ReasonLogNotWritten = "LogNotWritten"
	// ReasonVendorImage: the image in the spec is the vendor's own, and no Redis server is in it.
	ReasonVendorImage = "VendorImage"
	// ReasonBlanksDropped: an amount is written with blanks, such as 4 Gi, and read without.
	ReasonBlanksDropped = "BlanksDropped"
	// ReasonInvalidCertificate: the Secret is not there, lacks a key, or what is in it is no pair.
	ReasonInvalidCertificate = "InvalidCertificate"
)
