// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a NodePool.
const (
	// NodePoolReady summarizes the others: it is False with the first blocking cause.
	NodePoolReady = "Ready"
	// NodePoolRuntimeClassReady reports whether the RuntimeClass of the pool's name belongs to the pool and is as declared.
	NodePoolRuntimeClassReady = "RuntimeClassReady"
	// NodePoolNodesUpdated reports whether every node of the pool has the labels, taints and annotations of the pool.
	NodePoolNodesUpdated = "NodesUpdated"
	// NodePoolConflict is True while another owner holds a key of the pool with a different value.
	NodePoolConflict = "Conflict"
	// NodePoolHandlerAvailable reports whether the runtimes of the nodes offer the pool's handler.
	NodePoolHandlerAvailable = "HandlerAvailable"
)

// Reasons of a NodePool's conditions, in addition to those of every kind.
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
