// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a MachineConfigPool. Updated, Updating, Degraded, NodeDegraded and RenderDegraded have the meaning
// that they have in OpenShift.
const (
	// PoolReady summarizes the other conditions. It is True while all nodes have the configuration of the pool, or
	// change to it without a problem; otherwise it has the reason of the first condition that blocks.
	PoolReady = "Ready"
	// PoolUpdated is True when all nodes of the pool have its configuration and are ready.
	PoolUpdated = "Updated"
	// PoolUpdating is True while nodes of the pool change to its configuration. It is False in a paused pool.
	PoolUpdating = "Updating"
	// PoolDegraded is True while NodeDegraded or RenderDegraded is True.
	PoolDegraded = "Degraded"
	// PoolNodeDegraded is True while a node of the pool could not be updated.
	PoolNodeDegraded = "NodeDegraded"
	// PoolRenderDegraded is True while the MachineConfigs of the pool cannot be merged into a configuration.
	PoolRenderDegraded = "RenderDegraded"
	// PoolRolloutBlocked is True while a node cannot take its next step, and time alone may not change that.
	PoolRolloutBlocked = "RolloutBlocked"
	// PoolDrifted is True while a node of the pool differs from its configuration.
	PoolDrifted = "Drifted"
)

// Condition reasons of a MachineConfigPool, in addition to the reasons of every kind.
const (
	// ReasonAllUpdated: all nodes of the pool have its configuration and are ready.
	ReasonAllUpdated = "AllUpdated"
	// ReasonNoNodes: no node belongs to the pool.
	ReasonNoNodes = "NoNodes"
	// ReasonUpdating: nodes of the pool change to its configuration.
	ReasonUpdating = "Updating"
	// ReasonPaused: a user paused the pool, and nodes do not have the configuration of the pool.
	ReasonPaused = "Paused"
	// ReasonRendered: the MachineConfigs of the pool were merged into a configuration.
	ReasonRendered = "Rendered"
	// ReasonNearSizeLimit: the configuration has more than 80 % of the size that is allowed.
	ReasonNearSizeLimit = "NearSizeLimit"
	// ReasonInvalidConfig: a MachineConfig is not a valid Ignition config, or its parts contradict each other.
	ReasonInvalidConfig = "InvalidConfig"
	// ReasonUnsupportedConfig: a MachineConfig has a field that opcrew does not support.
	ReasonUnsupportedConfig = "UnsupportedConfig"
	// ReasonConfigTooLarge: the configuration exceeds the size limit.
	ReasonConfigTooLarge = "ConfigTooLarge"
	// ReasonSecretMissing: a Secret that a MachineConfig refers to, or its key, does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonPolicyMissing: the admission policy that records requesters is not in force, so opcrew applies nothing new.
	ReasonPolicyMissing = "PolicyMissing"
	// ReasonNoConfigs: the pool selects no MachineConfig, so its configuration is empty.
	ReasonNoConfigs = "NoConfigs"
	// ReasonNodeFailed: the update of a node failed.
	ReasonNodeFailed = "NodeFailed"
	// ReasonNodeUnreconcilable: a node cannot have the configuration, and nothing was changed on it.
	ReasonNodeUnreconcilable = "NodeUnreconcilable"
	// ReasonHealthy: no node of the pool has failed.
	ReasonHealthy = "Healthy"
	// ReasonPoolConflict: two custom pools select the same node.
	ReasonPoolConflict = "PoolConflict"
	// ReasonBudgetUsed: as many nodes are unavailable as maxUnavailable allows.
	ReasonBudgetUsed = "BudgetUsed"
	// ReasonDrainBlocked: pods of a node cannot be evicted.
	ReasonDrainBlocked = "DrainBlocked"
	// ReasonEtcdUnhealthy: control-plane nodes do not change while etcd is not healthy.
	ReasonEtcdUnhealthy = "EtcdUnhealthy"
	// ReasonOtherReboot: kured holds its lock, so another node may be rebooting.
	ReasonOtherReboot = "OtherReboot"
	// ReasonSoaking: updated nodes must be healthy for a while before the next node begins.
	ReasonSoaking = "Soaking"
	// ReasonUnhealthy: an updated node does not meet the health gate.
	ReasonUnhealthy = "Unhealthy"
	// ReasonTooManyFailures: as many nodes have failed as spec.rollout.maxFailures allows.
	ReasonTooManyFailures = "TooManyFailures"
	// ReasonRolledBack: the update failed on too many nodes, and the pool returns to its last configuration.
	ReasonRolledBack = "RolledBack"
	// ReasonNoCanary: no node of the pool matches spec.rollout.canary.nodeSelector.
	ReasonNoCanary = "NoCanary"
	// ReasonCordoned: a node is cordoned by a user or another tool, so opcrew does not begin its update.
	ReasonCordoned = "Cordoned"
	// ReasonActivity: an Activity runs on a node, or is about to, so opcrew does not begin its update.
	ReasonActivity = "Activity"
	// ReasonNodeNotReady: a node is not ready, so opcrew does not begin its update.
	ReasonNodeNotReady = "NodeNotReady"
	// ReasonAgentSilent: the machine agent of a node has not begun to carry out its order for ten minutes.
	ReasonAgentSilent = "AgentSilent"
	// ReasonNotBlocked: each node that has to change can take its next step.
	ReasonNotBlocked = "NotBlocked"
	// ReasonInSync: no node of the pool differs from its configuration.
	ReasonInSync = "InSync"
	// ReasonDrift: a node differs from its configuration.
	ReasonDrift = "Drift"
)
