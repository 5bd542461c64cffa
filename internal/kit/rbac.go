// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

// These are the rights that every Deployment of the operator needs, whatever kinds it serves. The roles are generated
// from these markers and from those of the kinds. The line above a marker is its reason, which docs/rights.md shows.
// The Role for the leader election Lease is in config/manager.
//
// Write events of client libraries, such as leader election events.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// Write events when the state of an object changes.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// Authenticate the clients of the metrics endpoint.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// Check the rights of clients of the metrics endpoint, and of users who request objects.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
