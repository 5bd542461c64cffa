// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// MachineChecks are requirements on the machines of the pool's nodes. The operator verifies them, and creates no
// machines.
type MachineChecks struct {
	// cidrs are the network segments of the pool, such as 10.1.0.0/16. Every internal IP address of a node must be in
	// one of the segments of its IP family; an IP family without a segment is not verified. Condition MachinesMatch
	// names nodes outside the segments.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	CIDRs []CIDR `json:"cidrs,omitempty"`

	// machine is the type of the pool's machines, and what creates them.
	// +optional
	Machine *Machine `json:"machine,omitempty"`
}

// CIDR is a network in CIDR notation.
// +kubebuilder:validation:MaxLength=49
// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="a segment must be a network in CIDR notation without host bits, such as 10.1.0.0/16 or fd00:1::/64"
type CIDR string

// Machine is the type of the pool's machines, and what creates them.
// +kubebuilder:validation:XValidation:rule="has(self.instanceTypes) || has(self.templateRef)",message="set instanceTypes or templateRef; without both, there is nothing to verify"
// +kubebuilder:validation:XValidation:rule="!has(self.securityGroups) || has(self.templateRef)",message="securityGroups are read from the machines of templateRef; add templateRef"
type Machine struct {
	// instanceTypes are the allowed values of the node label node.kubernetes.io/instance-type, which the cloud provider
	// sets. Condition MachinesMatch names nodes with another type.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	InstanceTypes []InstanceType `json:"instanceTypes,omitempty"`

	// templateRef is what creates the pool's machines: a NodeClass of Karpenter, or a machine template of Cluster API.
	// Condition MachinesMatch names nodes that were not made from it.
	// +optional
	TemplateRef *TemplateRef `json:"templateRef,omitempty"`

	// securityGroups are ids or names of security groups that every machine of the pool must have. Condition
	// MachinesMatch names nodes without one of them, where the objects of templateRef show the groups.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`
}

// InstanceType is the type of a machine, as a cloud provider names it.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",message="an instance type is the value of a node label: letters, digits, '-', '_' and '.', such as m6i.large"
type InstanceType string

// SecurityGroup is the id or the name of a security group, as a cloud provider names it.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=255
// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]([ -~]*[!-~])?$')",message="a security group is an id or a name of printable ASCII characters, such as sg-0f3c2a1b"
type SecurityGroup string

// TemplateRef names what creates machines.
// +kubebuilder:validation:XValidation:rule="self.kind.endsWith('NodeClass') || self.kind.endsWith('MachineTemplate') && self.apiVersion.startsWith('infrastructure.cluster.x-k8s.io/')",message="templateRef names a NodeClass of Karpenter (kind ends in NodeClass), or a machine template of Cluster API (kind ends in MachineTemplate, and the group is infrastructure.cluster.x-k8s.io)"
// +kubebuilder:validation:XValidation:rule="!self.kind.endsWith('NodeClass') || !has(self.__namespace__)",message="a NodeClass is in no namespace; remove namespace"
// +kubebuilder:validation:XValidation:rule="!self.kind.endsWith('MachineTemplate') || has(self.__namespace__)",message="a machine template is in a namespace; set namespace"
type TemplateRef struct {
	// apiVersion is the group and the version of the object, such as karpenter.k8s.aws/v1 or
	// infrastructure.cluster.x-k8s.io/v1beta2.
	// +required
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)+/v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$')",message="apiVersion must be a group and a version, such as karpenter.k8s.aws/v1"
	APIVersion string `json:"apiVersion"`

	// kind of the object, such as EC2NodeClass or AWSMachineTemplate.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Za-z0-9]*$')",message="kind must be a kind of Kubernetes objects, such as EC2NodeClass"
	Kind string `json:"kind"`

	// name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="name must be a DNS name: lower-case letters, digits, '-' and '.'"
	Name string `json:"name"`

	// namespace of a machine template; a NodeClass is in no namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="namespace must be a DNS label: lower-case letters, digits and '-'"
	Namespace string `json:"namespace,omitempty"`
}
