// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// MachineConfig is a part of the configuration of machines: files, directories, links, systemd units, SSH keys and
// kernel arguments. A MachineConfigPool merges the MachineConfigs that it selects, and applies the result to its nodes.
//
// A user who may write MachineConfigs is root on the nodes of the pools that select them.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=machineconfigs,scope=Cluster,shortName=mc,categories=opcrew
// +kubebuilder:printcolumn:name="GeneratedByController",type=string,JSONPath=`.metadata.annotations.machineconfiguration\.openshift\.io/generated-by-controller-version`,description="version of the operator that rendered this MachineConfig; empty if a user wrote it"
// +kubebuilder:printcolumn:name="IgnitionVersion",type=string,JSONPath=`.spec.config.ignition.version`,description="version of the Ignition specification that spec.config follows"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MachineConfig struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the configuration.
	// +optional
	Spec MachineConfigSpec `json:"spec,omitempty"`
}

// MachineConfigSpec is a part of the configuration of machines.
type MachineConfigSpec struct {
	// config is an Ignition config of version 3.0.0 to 3.5.0. Its source URLs must be data URLs, or have the form
	// secret://<namespace>/<name>/<key> and name a key of a Secret. The documentation of opcrew lists the sections that
	// are supported; another section degrades the pool, and no node changes.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Config runtime.RawExtension `json:"config,omitempty"`

	// kernelArguments are added to the kernel command line, in this order, after those of MachineConfigs that are
	// merged earlier.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.all(a, a.matches('^[^\\\\x00-\\\\x1f\\\\x7f]*$'))",message="a kernel argument is one line without control characters, such as nosmt or hugepages=64; write each argument as an item of its own"
	KernelArguments []string `json:"kernelArguments,omitempty"`

	// osImageURL is the image of the operating system. opcrew does not replace operating systems: a MachineConfig that
	// sets the field degrades its pools.
	// +optional
	OSImageURL string `json:"osImageURL,omitempty"`

	// baseOSExtensionsContainerImage is the image with the packages for extensions. opcrew does not support it: a
	// MachineConfig that sets the field degrades its pools.
	// +optional
	BaseOSExtensionsContainerImage string `json:"baseOSExtensionsContainerImage,omitempty"`

	// extensions are additional packages of the operating system. opcrew installs no packages: a MachineConfig that
	// sets the field degrades its pools.
	// +optional
	// +listType=atomic
	Extensions []string `json:"extensions,omitempty"`

	// fips switches machines to FIPS mode. opcrew cannot do that on a running host: a MachineConfig with the value true
	// degrades its pools.
	// +optional
	FIPS bool `json:"fips,omitempty"`

	// kernelType is the kernel to run: empty or default. opcrew does not install kernels: realtime and 64k-pages
	// degrade the pools of the MachineConfig.
	// +optional
	KernelType string `json:"kernelType,omitempty"`
}

// MachineConfigList is a list of MachineConfig objects.
// +kubebuilder:object:root=true
type MachineConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MachineConfig `json:"items"`
}
