// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a NodePool.
const (
	// NodePoolReady summarizes the other conditions. While one of them reports a problem, Ready is not True, and has
	// the reason of the most important condition that reports a problem.
	NodePoolReady = "Ready"
	// NodePoolRuntimeClassReady reports whether the RuntimeClass with the pool's name belongs to the pool, and has the
	// fields that the operator declares for it.
	NodePoolRuntimeClassReady = "RuntimeClassReady"
	// NodePoolNodesUpdated reports whether every node of the pool has the labels, taints and annotations in the pool's
	// spec.
	NodePoolNodesUpdated = "NodesUpdated"
	// NodePoolConflict is True while another owner has set a label, annotation or taint of the pool to a different
	// value on one of its nodes.
	NodePoolConflict = "Conflict"
	// NodePoolHandlerAvailable reports whether the container runtimes of the pool's nodes offer the handler in
	// spec.handler.
	NodePoolHandlerAvailable = "HandlerAvailable"
	// NodePoolConfigured has the status, reason and message of condition Ready of the pool's MachineConfigPool, or
	// reports why there is none. It exists only while spec.machineConfigSelector is set.
	NodePoolConfigured = "Configured"
	// NodePoolRemediation is False while a node is not Ready and the operator cannot fence its machine. It exists only
	// while spec.remediation is set.
	NodePoolRemediation = "Remediation"
	// NodePoolPipelines is False while a pipeline has failed on a node, or cannot start. It exists only while
	// spec.onJoin or spec.onLeave is set, or a node joins or leaves.
	NodePoolPipelines = "Pipelines"
	// NodePoolMachinesMatch reports whether the pool's nodes are in the segments in spec.cidrs, and have the instance
	// types, the template and the security groups in spec.machine. It exists only while one of these fields is set.
	NodePoolMachinesMatch = "MachinesMatch"
	// NodePoolFirewallActive reports whether the kernel of every node of the pool has the rules in spec.firewall. It
	// exists only while spec.firewall is set.
	NodePoolFirewallActive = "FirewallActive"
)

// Condition reasons of a NodePool, in addition to the reasons that all kinds share.
const (
	// ReasonAsWanted: all nodes of the pool match its spec.
	ReasonAsWanted = "AsWanted"
	// ReasonNoNodes: the pool has no nodes. Nothing else is wrong, so Ready is True.
	ReasonNoNodes = "NoNodes"
	// ReasonHeldByPool: another pool has set a label, annotation or taint to a different value.
	ReasonHeldByPool = "HeldByPool"
	// ReasonHeldByOthers: a user or another controller has set a label, annotation or taint to a different value.
	ReasonHeldByOthers = "HeldByOthers"
	// ReasonNoConflict: no other owner has set a label, annotation or taint of the pool to a different value.
	ReasonNoConflict = "NoConflict"
	// ReasonNodeRefused: a node of the pool cannot be changed, because the API server refuses the change or another
	// manager reverts it.
	ReasonNodeRefused = "NodeRefused"
	// ReasonControlPlaneProtected: the operator does not set a NoExecute taint of the pool on a control plane node,
	// because spec.allowNoExecuteOnControlPlane is false.
	ReasonControlPlaneProtected = "ControlPlaneProtected"
	// ReasonHandlerMissing: the container runtime of a node does not offer the handler in spec.handler.
	ReasonHandlerMissing = "HandlerMissing"
	// ReasonHandlerNotReported: the container runtime of a node does not report which handlers it offers.
	ReasonHandlerNotReported = "HandlerNotReported"
	// ReasonHandlerOffered: the container runtimes of all nodes offer the handler in spec.handler.
	ReasonHandlerOffered = "HandlerOffered"
	// ReasonDryRun: the pool has DryRunAnnotation, so the operator only shows what it would change.
	ReasonDryRun = "DryRun"
	// ReasonMachineConfigMissing: spec.machineConfigSelector is set, and MachineConfig of opcrew is not installed.
	ReasonMachineConfigMissing = "MachineConfigMissing"
	// ReasonPolicyMissing: the admission policy about the rights of a pool's author is not in force, so the operator does
	// not trust the recorded requester.
	ReasonPolicyMissing = "PolicyMissing"
	// ReasonNoDeadNodes: no node of the pool is remediated.
	ReasonNoDeadNodes = "NoDeadNodes"
	// ReasonRemediating: the operator waits, fences or verifies, or has fenced machines that have not returned.
	ReasonRemediating = "Remediating"
	// ReasonRemediationHeld: a safety rule forbids to fence a machine now. The message names the rule.
	ReasonRemediationHeld = "RemediationHeld"
	// ReasonNotEffective: no machine of the pool can be fenced, because of the spec or of what it refers to. It does not
	// block Ready.
	ReasonNotEffective = "NotEffective"
	// ReasonRemediationFailed: no attempt to fence a machine is left, or a machine runs although it was reported as off.
	ReasonRemediationFailed = "RemediationFailed"
	// ReasonActivityMissing: spec.onJoin, spec.onLeave or spec.remediation is set, and the CRD of Activity is not that of
	// opcrew.
	ReasonActivityMissing = "ActivityMissing"
	// ReasonStepFailed: a step of a pipeline has failed on a node, and no retry is left.
	ReasonStepFailed = "StepFailed"
	// ReasonPipelineTimedOut: a pipeline has not ended within its timeout.
	ReasonPipelineTimedOut = "PipelineTimedOut"
	// ReasonRunning: nodes join or leave, and no pipeline has failed.
	ReasonRunning = "Running"
	// ReasonSegmentMismatch: a node has an address outside the segments in spec.cidrs.
	ReasonSegmentMismatch = "SegmentMismatch"
	// ReasonInstanceTypeMismatch: a node has another instance type than those in spec.machine.
	ReasonInstanceTypeMismatch = "InstanceTypeMismatch"
	// ReasonTemplateMissing: what spec.machine.templateRef names does not exist, or the API server does not serve its kind.
	ReasonTemplateMissing = "TemplateMissing"
	// ReasonTemplateUnreadable: the operator cannot read what spec.machine.templateRef names, or its machines.
	ReasonTemplateUnreadable = "TemplateUnreadable"
	// ReasonTemplateMismatch: a node was not made from what spec.machine.templateRef names.
	ReasonTemplateMismatch = "TemplateMismatch"
	// ReasonSecurityGroupMismatch: a node does not have a security group in spec.machine.
	ReasonSecurityGroupMismatch = "SecurityGroupMismatch"
	// ReasonNotReported: what must be compared does not show up: the internal address or instance type of a node, what made
	// it, or its security groups.
	ReasonNotReported = "NotReported"
	// ReasonNoneRunning: no node joins or leaves.
	ReasonNoneRunning = "NoneRunning"
	// ReasonRulesActive: the kernel of every node of the pool has the firewall rules of the pool.
	ReasonRulesActive = "RulesActive"
	// ReasonRulesPending: a node of the pool does not report the current firewall rules yet.
	ReasonRulesPending = "RulesPending"
	// ReasonRulesRefused: a node of the pool restored its previous firewall rules, because it lost contact to the API
	// server, or its kernel did not accept the new ones.
	ReasonRulesRefused = "RulesRefused"
	// ReasonRulesUndelivered: the operator cannot write the objects that firewall agents need.
	ReasonRulesUndelivered = "RulesUndelivered"
	// ReasonRulesTooLarge: the firewall rules with the addresses of all their sources do not fit into a ConfigMap.
	ReasonRulesTooLarge = "RulesTooLarge"
)
