// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 is the API of the kinds of group nodes.lailin.xyz: NodePool.
//
// Types, markers, condition types and reasons live here; what is done with them
// lives in internal/kinds. Imports stay light, so that clients can use it.
// +kubebuilder:object:generate=true
// +groupName=nodes.lailin.xyz
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package=../../../applyconfigurations/nodes
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "nodes.lailin.xyz", Version: "v1"}

// SchemeGroupVersion is GroupVersion under the name that generated code uses.
var SchemeGroupVersion = GroupVersion

// AddToScheme registers the types of this package in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &NodePool{}, &NodePoolList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
