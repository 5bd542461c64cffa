// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a Memcached, beside common.ConditionLeftovers, common.ConditionPlacement and common.ConditionPaused.
const (
	// MemcachedReady sums up the others: it is False with the first blocking cause.
	MemcachedReady = "Ready"
	// MemcachedChildrenReady tells whether Service, ConfigMap, StatefulSet and disruption budget are as declared.
	MemcachedChildrenReady = "ChildrenReady"
	// MemcachedServersReady tells whether every server answers, and what keeps the first that does not.
	MemcachedServersReady = "ServersReady"
)

// Reasons of a Memcached's conditions, beside those that every kind shares.
const (
	ReasonAllServersReady = "AllServersReady"
	ReasonScaledToZero    = "ScaledToZero"
	ReasonServersNotReady = "ServersNotReady"
	ReasonServersMissing  = "ServersMissing"
)
