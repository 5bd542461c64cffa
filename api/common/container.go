// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import "bytes"

// Container is a container of a pod. It is kept as JSON text, so that every stored object can be decoded and listed;
// the fields exist only for the schema. Validation rules belong to the list of containers, because a rule for an item
// would also block status updates of objects that were stored before the rule existed.
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type Container struct {
	// securityContext of the container, as in a pod.
	// +optional
	SecurityContext *ContainerSecurity `json:"securityContext,omitempty"`

	// ports of the container, as in a pod.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Ports []ContainerPort `json:"ports,omitempty"`

	// volumeMounts of the container, as in a pod.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	VolumeMounts []ContainerMount `json:"volumeMounts,omitempty"`

	// livenessProbe of the container, as in a pod.
	// +optional
	LivenessProbe *ContainerProbe `json:"livenessProbe,omitempty"`

	// readinessProbe of the container, as in a pod.
	// +optional
	ReadinessProbe *ContainerProbe `json:"readinessProbe,omitempty"`

	// startupProbe of the container, as in a pod.
	// +optional
	StartupProbe *ContainerProbe `json:"startupProbe,omitempty"`

	// Source is the JSON text of the container as the user wrote it.
	Source string `json:"-"`
}

// ContainerSecurity is the part of a container's securityContext that validation rules check.
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerSecurity struct {
	// privileged lets the container act as root of the node, as in a pod. The restricted Pod Security Standard allows
	// only false; default false.
	// +optional
	Privileged *bool `json:"privileged,omitempty"`
	// allowPrivilegeEscalation lets a process get more privileges than its parent, as in a pod. The restricted Pod
	// Security Standard allows only false.
	// +optional
	AllowPrivilegeEscalation *bool `json:"allowPrivilegeEscalation,omitempty"`
	// capabilities are the Linux capabilities that the container gets or loses, as in a pod.
	// +optional
	Capabilities *ContainerCapabilities `json:"capabilities,omitempty"`
	// runAsNonRoot makes the kubelet refuse to run the container as root, as in a pod. The restricted Pod Security
	// Standard allows only true.
	// +optional
	RunAsNonRoot *bool `json:"runAsNonRoot,omitempty"`
	// runAsUser is the numeric user that runs the container, as in a pod. The restricted Pod Security Standard does not
	// allow 0 (root). The default is the user of the image.
	// +optional
	RunAsUser *int64 `json:"runAsUser,omitempty"`
	// procMount is the type of the container's /proc mount, as in a pod: Default, or Unmasked. The restricted Pod
	// Security Standard allows only Default.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ProcMount *string `json:"procMount,omitempty"`
	// seccompProfile limits the system calls of the container, as in a pod.
	// +optional
	SeccompProfile *ContainerProfile `json:"seccompProfile,omitempty"`
	// appArmorProfile is the AppArmor profile of the container, as in a pod.
	// +optional
	AppArmorProfile *ContainerProfile `json:"appArmorProfile,omitempty"`
}

// ContainerCapabilities is the part of a container's Linux capabilities that validation rules check.
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerCapabilities struct {
	// add lists the capabilities that the container gets in addition to those that the container runtime grants by
	// default, such as NET_BIND_SERVICE.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=atomic
	Add []string `json:"add,omitempty"`
}

// ContainerProfile is the part of a seccomp or AppArmor profile that validation rules check.
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerProfile struct {
	// type of the profile, such as RuntimeDefault.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`
}

// ContainerPort is the part of a container port that validation rules check.
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerPort struct {
	// hostPort is the port of the node, as in the ports of a container.
	// +optional
	HostPort int32 `json:"hostPort,omitempty"`
}

// ContainerMount is the part of a volume mount that validation rules check.
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerMount struct {
	// name of the volume, as in the volume mounts of a container.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
}

// ContainerProbe is the part of a probe that validation rules check.
// +kubebuilder:object:generate=true
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerProbe struct {
	// httpGet is the HTTP request of the probe, as in a pod.
	// +optional
	HTTPGet *ProbeTarget `json:"httpGet,omitempty"`
	// tcpSocket is the TCP connection of the probe, as in a pod.
	// +optional
	TCPSocket *ProbeTarget `json:"tcpSocket,omitempty"`
}

// ProbeTarget is the part of a probe's httpGet or tcpSocket that validation rules check.
// +kubebuilder:pruning:PreserveUnknownFields
type ProbeTarget struct {
	// host to which the probe connects; empty for the pod itself.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty"`
}

// ContainerOf returns the container that a JSON text describes. It does not parse the text.
func ContainerOf(source string) Container { return Container{Source: source} }

// JSON returns the container's JSON text as the user wrote it; empty for null.
func (c Container) JSON() string { return c.Source }

// UnmarshalJSON accepts and keeps any JSON value.
func (c *Container) UnmarshalJSON(raw []byte) error {
	*c = Container{}
	if !bytes.Equal(raw, []byte("null")) {
		c.Source = string(raw)
	}
	return nil
}

// MarshalJSON returns the JSON text that UnmarshalJSON kept.
func (c Container) MarshalJSON() ([]byte, error) {
	if c.Source == "" {
		return []byte("null"), nil
	}
	return []byte(c.Source), nil
}
