// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API of the kind of group app.redislabs.com: RedisEnterpriseCluster, as the
// vendor's operator had it.
//
// Types, markers, condition types and reasons live here; what is done with them
// lives in internal/kinds. Imports stay light, so that clients can use it.
// +kubebuilder:object:generate=true
// +groupName=app.redislabs.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "app.redislabs.com", Version: "v1alpha1"}

// AddToScheme registers the types of this package in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &RedisEnterpriseCluster{}, &RedisEnterpriseClusterList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
