// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import "bytes"

// Container is a container as in a pod, kept as it was written: one stored value that does not decode would break
// every list of its kind. Its fields are only a schema, for the rules of a list of containers, which refuse what no pod
// may have; the rest is validated when pods are built. (A rule of an item would keep the status of an object from being
// written that was stored before the rule: items of atomic lists are not ratcheted.)
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type Container struct {
	// securityContext of the container.
	// +optional
	SecurityContext *ContainerSecurity `json:"securityContext,omitempty"`

	// ports of the container.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Ports []ContainerPort `json:"ports,omitempty"`

	// livenessProbe of the container.
	// +optional
	LivenessProbe *ContainerProbe `json:"livenessProbe,omitempty"`

	// readinessProbe of the container.
	// +optional
	ReadinessProbe *ContainerProbe `json:"readinessProbe,omitempty"`

	// startupProbe of the container.
	// +optional
	StartupProbe *ContainerProbe `json:"startupProbe,omitempty"`

	// Source is the container as it was written.
	Source string `json:"-"`
}

// ContainerSecurity is what rules look at of a SecurityContext.
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerSecurity struct {
	// privileged as in a SecurityContext.
	// +optional
	Privileged *bool `json:"privileged,omitempty"`
	// allowPrivilegeEscalation as in a SecurityContext.
	// +optional
	AllowPrivilegeEscalation *bool `json:"allowPrivilegeEscalation,omitempty"`
	// capabilities as in a SecurityContext.
	// +optional
	Capabilities *ContainerCapabilities `json:"capabilities,omitempty"`
	// runAsNonRoot as in a SecurityContext.
	// +optional
	RunAsNonRoot *bool `json:"runAsNonRoot,omitempty"`
	// runAsUser as in a SecurityContext.
	// +optional
	RunAsUser *int64 `json:"runAsUser,omitempty"`
	// procMount as in a SecurityContext.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ProcMount *string `json:"procMount,omitempty"`
	// seccompProfile as in a SecurityContext.
	// +optional
	SeccompProfile *ContainerProfile `json:"seccompProfile,omitempty"`
	// appArmorProfile as in a SecurityContext.
	// +optional
	AppArmorProfile *ContainerProfile `json:"appArmorProfile,omitempty"`
}

// ContainerCapabilities are what rules look at of Capabilities.
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerCapabilities struct {
	// add as in Capabilities.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=atomic
	Add []string `json:"add,omitempty"`
}

// ContainerProfile is what rules look at of a profile for seccomp or AppArmor.
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerProfile struct {
	// type of the profile.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`
}

// ContainerPort is what rules look at of a port.
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerPort struct {
	// hostPort as in a ContainerPort.
	// +optional
	HostPort int32 `json:"hostPort,omitempty"`
}

// ContainerProbe is what rules look at of a probe.
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerProbe struct {
	// httpGet as in a Probe.
	// +optional
	HTTPGet *ProbeTarget `json:"httpGet,omitempty"`
	// tcpSocket as in a Probe.
	// +optional
	TCPSocket *ProbeTarget `json:"tcpSocket,omitempty"`
}

// ProbeTarget is what rules look at of what a probe asks.
// +kubebuilder:pruning:PreserveUnknownFields
type ProbeTarget struct {
	// host that is asked.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty"`
}

// ContainerOf is the container of a JSON text.
func ContainerOf(source string) Container { return Container{Source: source} }

// JSON is the text that the container was written as; empty for null.
func (c Container) JSON() string { return c.Source }

// UnmarshalJSON accepts any JSON.
func (c *Container) UnmarshalJSON(raw []byte) error {
	*c = Container{}
	if !bytes.Equal(raw, []byte("null")) {
		c.Source = string(raw)
	}
	return nil
}

// MarshalJSON returns the JSON that was read.
func (c Container) MarshalJSON() ([]byte, error) {
	if c.Source == "" {
		return []byte("null"), nil
	}
	return []byte(c.Source), nil
}
