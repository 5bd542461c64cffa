// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a NodePool.
const (
	// NodePoolReady sums up the others: it is False with the first blocking cause.
	NodePoolReady = "Ready"
	// NodePoolRuntimeClassReady tells whether the RuntimeClass of the pool's name is the pool's and as declared.
	NodePoolRuntimeClassReady = "RuntimeClassReady"
	// NodePoolNodesUpdated tells whether every node of the pool carries what the pool wants of it.
	NodePoolNodesUpdated = "NodesUpdated"
	// NodePoolConflict is True while somebody else holds something that the pool wants otherwise.
	NodePoolConflict = "Conflict"
	// NodePoolHandlerAvailable tells whether the runtimes of the nodes offer the pool's handler.
	NodePoolHandlerAvailable = "HandlerAvailable"
)

// Reasons of a NodePool's conditions, beside those that every kind shares.
const (
	ReasonAsWanted              = "AsWanted"
	ReasonNoNodes               = "NoNodes"
	ReasonHeldByPool            = "HeldByPool"
	ReasonHeldByOthers          = "HeldByOthers"
	ReasonNoConflict            = "NoConflict"
	ReasonNodeRefused           = "NodeRefused"
	ReasonControlPlaneProtected = "ControlPlaneProtected"
	ReasonHandlerMissing        = "HandlerMissing"
	ReasonHandlerNotReported    = "HandlerNotReported"
	ReasonHandlerOffered        = "HandlerOffered"
	ReasonDryRun                = "DryRun"
)
