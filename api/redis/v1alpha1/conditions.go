// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "github.com/opcrew/opcrew/api/common"

// Condition types of a RedisEnterpriseCluster, in addition to ConditionLeftovers and ConditionPlacement of package
// common. Ready, ChildrenReady, Available, Redundant, PodsReady and UpToDate always exist, and the others only while
// they apply.
const (
	// ConditionReady summarizes the other conditions. Ready is False while one of them reports a problem that makes the
	// cluster not ready. It then has the reason of the most important such condition.
	ConditionReady = "Ready"
	// ConditionChildrenReady reports whether the StatefulSet, the Services, the Secrets and the PodDisruptionBudget
	// have the fields that the operator declares for them.
	ConditionChildrenReady = "ChildrenReady"
	// ConditionAvailable reports whether all 16384 slots are served. Its message says how many are.
	ConditionAvailable = common.ConditionAvailable
	// ConditionRedundant reports whether each shard has a replica that is in sync and runs in another pod than its
	// primary.
	ConditionRedundant = "Redundant"
	// ConditionPodsReady reports whether the cluster has the desired number of pods, each with the primary of its own
	// shard and a replica of the previous pod's shard. Its message says why the first incomplete pod is not ready.
	ConditionPodsReady = "PodsReady"
	// ConditionUpToDate reports whether every pod and its volume match the spec.
	ConditionUpToDate = "UpToDate"
	// ConditionMigrating is True while the operator moves slots between pods.
	ConditionMigrating = "Migrating"
	// ConditionDataAtRisk is True while one more failure would lose data, or a change that the spec requires would lose
	// data. The operator does not make such a change.
	ConditionDataAtRisk = "DataAtRisk"
	// ConditionMemoryFull is True while a primary has used all of its memory, so that it refuses writes.
	ConditionMemoryFull = "MemoryFull"
	// ConditionStorageFailing is True while a server cannot write its append-only file, for example because its volume
	// is full. If the server is a primary, it refuses writes.
	ConditionStorageFailing = "StorageFailing"
	// ConditionRecoveryRequested is True while spec.clusterRecovery is set. Its message says which slots are not
	// recovered yet, and what the operator is waiting for.
	ConditionRecoveryRequested = "RecoveryRequested"
	// ConditionFieldsIgnored is True while the spec sets fields that opcrew accepts but does not implement. Its message
	// names the fields.
	ConditionFieldsIgnored = "FieldsIgnored"
	// ConditionImageReplaced is True while the spec names an image of Redis Enterprise, which opcrew cannot run. The
	// servers then run the operator's default image.
	ConditionImageReplaced = "ImageReplaced"
	// ConditionSpecNormalized is True while the operator corrects an amount in the spec, such as "4 Gi" to 4Gi. Its
	// message shows the corrected amount.
	ConditionSpecNormalized = "SpecNormalized"
	// ConditionCertificateUnused is True while the status page cannot use the certificate in the Secret that the spec
	// names.
	ConditionCertificateUnused = "CertificateUnused"
)

// Condition reasons of a RedisEnterpriseCluster, in addition to the reasons that all kinds share.
const (
	// ReasonAllSlotsServed: each of the 16384 slots is served by a primary.
	ReasonAllSlotsServed = "AllSlotsServed"
	// ReasonSlotsUnserved: some slots are not served by any primary.
	ReasonSlotsUnserved = "SlotsUnserved"
	// ReasonQuorumLost: a majority of the primaries is down, so the servers cannot elect replicas as new primaries.
	ReasonQuorumLost = "QuorumLost"
	// ReasonUnreachable: the operator cannot connect to the servers. They may still be healthy and serve clients.
	ReasonUnreachable = "Unreachable"
	// ReasonCreating: the servers are starting, and form a cluster for the first time.
	ReasonCreating = common.ReasonCreating
	// ReasonRecovering: the servers are forming the cluster again, for example after all of them restarted.
	ReasonRecovering = "Recovering"
	// ReasonNotNeeded: every slot is served, so there is nothing to recover.
	ReasonNotNeeded = "NotNeeded"
	// ReasonAllShardsReplicated: each shard has a replica that is in sync and runs in another pod than its primary.
	ReasonAllShardsReplicated = "AllShardsReplicated"
	// ReasonReplicaMissing: a shard has no replica.
	ReasonReplicaMissing = "ReplicaMissing"
	// ReasonReplicaBehind: the replica of a shard is still syncing, or has lost the connection to its primary.
	ReasonReplicaBehind = "ReplicaBehind"
	// ReasonTooFewNodes: the cluster has only one pod, so there is no other pod for a replica.
	ReasonTooFewNodes = "TooFewNodes"
	// ReasonAllPodsReady: the cluster has the desired number of pods, each with the primary of its own shard and a
	// replica of the previous pod's shard.
	ReasonAllPodsReady = common.ReasonAllPodsReady
	// ReasonPodsNotReady: a pod is not ready, and may need help from a user.
	ReasonPodsNotReady = common.ReasonPodsNotReady
	// ReasonPodsMissing: Kubernetes refuses to create pods, because of a quota or an admission rule.
	ReasonPodsMissing = common.ReasonPodsMissing
	// ReasonFailingBack: after a failover, the operator makes the server that was the primary of its shard the primary
	// again.
	ReasonFailingBack = "FailingBack"
	// ReasonScalingUp and ReasonScalingDown: the operator is adding or removing pods.
	ReasonScalingUp   = "ScalingUp"
	ReasonScalingDown = "ScalingDown"
	// ReasonRebalancing: the operator is moving slots, so that all pods get equal shares.
	ReasonRebalancing = "Rebalancing"
	// ReasonTooLittleMemory: data that must move does not fit into the memory of its target. The message gives the
	// sizes.
	ReasonTooLittleMemory = "TooLittleMemory"
	// ReasonAllUpToDate: every pod and its volume match the spec.
	ReasonAllUpToDate = "AllUpToDate"
	// ReasonInvalidSpec: the spec is invalid. The message says what to write instead.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonConfigRefused: the servers refuse a setting in spec.redisConfig. The message quotes their error.
	ReasonConfigRefused = "ConfigRefused"
	// ReasonVolumesFixed: the volumes cannot be changed as the spec requests. A cluster keeps the kind of volumes with
	// which it was created, and some volumes cannot grow. The operator still applies the other fields of the spec.
	ReasonVolumesFixed = "VolumesFixed"
	// ReasonVolumesGrowing: volumes are growing to volumeSize, because enablePersistentVolumeResize is true.
	ReasonVolumesGrowing = "VolumesGrowing"
	// ReasonHibernating: spec.hibernate has stopped all pods. Their claims are kept.
	ReasonHibernating = "Hibernating"
	// ReasonNoPersistence: the pods have no volumes, so a restart of a pod would lose data that no other pod has.
	ReasonNoPersistence = "NoPersistence"
	// ReasonDataMissing: no server has the data of some slots. The operator assigns these slots again, empty, only
	// after a user has accepted the loss with AcceptDataLossAnnotation.
	ReasonDataMissing = "DataMissing"
	// ReasonDataContested: several servers claim the same slots but do not belong to one cluster, or several servers
	// have the same node ID. The operator makes no change that could lose data.
	ReasonDataContested = "DataContested"
	// ReasonNotServed: the spec sets fields of features that Redis and Valkey lack, or that the operator always
	// provides.
	ReasonNotServed = "NotServed"
	// ReasonWritesRefused: a primary has used all of its memory and evicts no keys, so it refuses writes.
	ReasonWritesRefused = "WritesRefused"
	// ReasonLogNotWritten: a server cannot write its append-only file, because its disk is full or fails.
	ReasonLogNotWritten = "LogNotWritten"
	// ReasonVendorImage: the image in the spec is Redis Enterprise, which contains no Redis server that opcrew can run.
	ReasonVendorImage = "VendorImage"
	// ReasonBlanksDropped: an amount contains blanks, such as "4 Gi". The operator removes the blanks.
	ReasonBlanksDropped = "BlanksDropped"
	// ReasonInvalidCertificate: the Secret does not exist, lacks a key, or does not contain a certificate with its
	// private key.
	ReasonInvalidCertificate = "InvalidCertificate"
)
