// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a Memcached, in addition to common.ConditionLeftovers, ConditionPlacement and ConditionPaused.
const (
	// MemcachedReady summarizes the others: it is False with the first blocking cause.
	MemcachedReady = "Ready"
	// MemcachedChildrenReady reports whether Service, ConfigMap, StatefulSet and disruption budget are as declared.
	MemcachedChildrenReady = "ChildrenReady"
	// MemcachedServersReady reports whether every server answers, and what blocks the first one that does not.
	MemcachedServersReady = "ServersReady"
)

// Reasons of a Memcached's conditions, in addition to those of every kind.
const (
	ReasonAllServersReady = "AllServersReady"
	ReasonScaledToZero    = "ScaledToZero"
	ReasonServersNotReady = "ServersNotReady"
	ReasonServersMissing  = "ServersMissing"
)
