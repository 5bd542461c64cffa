// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 is the API group machineconfiguration.openshift.io, with the kinds MachineConfig and MachineConfigPool.
// The group, the kinds and their fields are those of OpenShift's Machine Config Operator. Fields that only opcrew has
// are optional.
//
// The package contains types, markers, condition types and reasons. The controllers are in internal/kinds. The package
// imports little, so that Go clients can import it without the dependencies of the operator.
// +kubebuilder:object:generate=true
// +groupName=machineconfiguration.openshift.io
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package=../../../applyconfigurations/machineconfiguration
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "machineconfiguration.openshift.io", Version: "v1"}

// SchemeGroupVersion is the same as GroupVersion. Generated code needs it under this name.
var SchemeGroupVersion = GroupVersion

// AddToScheme registers the types of this package in a scheme. It never returns an error.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &MachineConfig{}, &MachineConfigList{}, &MachineConfigPool{}, &MachineConfigPoolList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
