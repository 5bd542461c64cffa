// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a Memcached, in addition to ConditionLeftovers, ConditionPlacement and ConditionPaused of package
// common.
const (
	// MemcachedReady summarizes the other conditions: it has the status and reason of the most important condition that
	// reports a problem.
	MemcachedReady = "Ready"
	// MemcachedChildrenReady reports whether the Service, the ConfigMap, the StatefulSet and the PodDisruptionBudget
	// have the fields that the operator declares for them.
	MemcachedChildrenReady = "ChildrenReady"
	// MemcachedServersReady reports whether every server responds. Its message says what blocks the first server that
	// does not.
	MemcachedServersReady = "ServersReady"
)

// Condition reasons of a Memcached, in addition to the reasons that all kinds share.
const (
	// ReasonAllServersReady: every server responds.
	ReasonAllServersReady = "AllServersReady"
	// ReasonScaledToZero: spec.size is 0, so there are no servers.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonServersNotReady: a server does not respond yet, or its pod does not match the spec.
	ReasonServersNotReady = "ServersNotReady"
	// ReasonServersMissing: Kubernetes does not create a server's pod, for example because of a quota.
	ReasonServersMissing = "ServersMissing"
)
