// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1beta2 is the API of the kinds of group etcd.database.coreos.com: EtcdCluster,
// EtcdBackup and EtcdRestore, compatible with the CoreOS etcd-operator.
//
// Types, markers, condition types and reasons live here; what is done with them
// lives in internal/kinds. Imports stay light, so that clients can use it.
// +kubebuilder:object:generate=true
// +groupName=etcd.database.coreos.com
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package=../../../applyconfigurations/etcd
package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "etcd.database.coreos.com", Version: "v1beta2"}

// SchemeGroupVersion is GroupVersion under the name that generated code uses.
var SchemeGroupVersion = GroupVersion

// AddToScheme registers the types of this package in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &EtcdCluster{}, &EtcdClusterList{}, &EtcdBackup{}, &EtcdBackupList{}, &EtcdRestore{}, &EtcdRestoreList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
