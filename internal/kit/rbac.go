// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

// Every layer needs these rights, whatever its kinds. The roles are generated from these markers and those of the
// kinds. kustomize adds the name of the layer. The Role for the Lease of a layer is in config/manager.
//
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
