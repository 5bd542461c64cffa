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

	// machine is the type of the pool's machines.
	// +optional
	Machine *Machine `json:"machine,omitempty"`
}

// CIDR is a network in CIDR notation.
// +kubebuilder:validation:MaxLength=49
// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="a segment must be a network in CIDR notation without host bits, such as 10.1.0.0/16 or fd00:1::/64"
type CIDR string

// Machine is the type of the pool's machines.
type Machine struct {
	// instanceTypes are the allowed values of the node label node.kubernetes.io/instance-type, which the cloud provider
	// sets. Condition MachinesMatch names nodes with another type.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	InstanceTypes []InstanceType `json:"instanceTypes"`
}

// InstanceType is the type of a machine, as a cloud provider names it.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",message="an instance type is the value of a node label: letters, digits, '-', '_' and '.', such as m6i.large"
type InstanceType string
