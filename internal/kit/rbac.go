// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

// The rights of every layer, whatever its kinds. The roles are generated from these markers and those of the
// kinds; kustomize adds the name of the layer. The line above a marker is its reason, which docs/rights.md shows.
// The Role for the Lease of a layer is in config/manager.
//
// Events of client libraries, such as those of leader election.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// Events on transitions of objects.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// Who reads the metrics.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// Whether a reader of the metrics may, and whether a requester has a right.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
