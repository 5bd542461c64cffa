// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

// What every layer may do, whatever its kinds. The roles are generated from these
// markers and those of the layer's kinds; kustomize gives them the layer's name.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=opcrew-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=opcrew-system,resources=leases,resourceNames=opcrew-machines;opcrew-applications;opcrew-data,verbs=get;update
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
