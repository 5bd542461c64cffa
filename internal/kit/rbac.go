// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

// What every layer may do, whatever its kinds. The roles are generated from these
// markers and those of the layer's kinds; kustomize gives them the layer's name. The Role
// for a layer's own Lease is in config/manager.
//
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
