// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API of the kind of group app.redislabs.com: RedisEnterpriseCluster, compatible
// with the vendor's operator.
//
// Types, markers, condition types and reasons live here; what is done with them
// lives in internal/kinds. Imports stay light, so that clients can use it.
// +kubebuilder:object:generate=true
// +groupName=app.redislabs.com
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package=../../../applyconfigurations/redis
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "app.redislabs.com", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion under the name that generated code uses.
var SchemeGroupVersion = GroupVersion

// AddToScheme registers the types of this package in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &RedisEnterpriseCluster{}, &RedisEnterpriseClusterList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
