// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import (
	corev1 "k8s.io/api/core/v1"
)

// The rule checks for exponents itself: it also runs on amounts that their own rule
// refuses, and comparing those would keep an API server busy for hours.

// Resources are the requests and limits of a container.
// +kubebuilder:object:generate=true
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.requests) || self.requests.all(r, !(r in self.limits) || string(self.requests[r]).matches('[eE]') || string(self.limits[r]).matches('[eE]') || !quantity(string(self.requests[r])).isGreaterThan(quantity(string(self.limits[r]))))",message="requests must not be higher than limits"
type Resources struct {
	// limits are the most that the container may use.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Limits map[corev1.ResourceName]Amount `json:"limits,omitempty"`

	// requests are reserved for the container; they default to limits.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Requests map[corev1.ResourceName]Amount `json:"requests,omitempty"`
}

// Port is one port that an application serves.
// +kubebuilder:object:generate=true
type Port struct {
	// name of the port; default protocol and number.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// protocol of the port: TCP, UDP or SCTP; default TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// appProtocol is the protocol that proxies expect on the port, such as http or kubernetes.io/h2c.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AppProtocol string `json:"appProtocol,omitempty"`

	// port of the Service.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// targetPort is where the container listens: a number, or a name for the port with the
	// number port; default port.
	// +optional
	TargetPort TargetPort `json:"targetPort,omitempty"`

	// nodePort is the port on every node, 0 for any free one; without it there is none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	NodePort *int32 `json:"nodePort,omitempty"`
}

// Probes report whether a container is started, ready and alive.
// +kubebuilder:object:generate=true
type Probes struct {
	// readiness takes the pod out of the Service while it fails.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) != int || self.httpGet.port >= 1 && self.httpGet.port <= 65535) && (!has(self.tcpSocket) || type(self.tcpSocket.port) != int || self.tcpSocket.port >= 1 && self.tcpSocket.port <= 65535)",message="the port of a probe must be a number from 1 to 65535 or the name of a port"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host) || self.httpGet.host == '') && (!has(self.tcpSocket) || !has(self.tcpSocket.host) || self.tcpSocket.host == '')",message="the host of a probe must be left out: the kubelet would connect to any host from the node"
	Readiness *corev1.Probe `json:"readiness,omitempty"`
	// liveness restarts the container when it fails.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) != int || self.httpGet.port >= 1 && self.httpGet.port <= 65535) && (!has(self.tcpSocket) || type(self.tcpSocket.port) != int || self.tcpSocket.port >= 1 && self.tcpSocket.port <= 65535)",message="the port of a probe must be a number from 1 to 65535 or the name of a port"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host) || self.httpGet.host == '') && (!has(self.tcpSocket) || !has(self.tcpSocket.host) || self.tcpSocket.host == '')",message="the host of a probe must be left out: the kubelet would connect to any host from the node"
	Liveness *corev1.Probe `json:"liveness,omitempty"`
	// startup holds the other probes back until it succeeds.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) != int || self.httpGet.port >= 1 && self.httpGet.port <= 65535) && (!has(self.tcpSocket) || type(self.tcpSocket.port) != int || self.tcpSocket.port >= 1 && self.tcpSocket.port <= 65535)",message="the port of a probe must be a number from 1 to 65535 or the name of a port"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host) || self.httpGet.host == '') && (!has(self.tcpSocket) || !has(self.tcpSocket.host) || self.tcpSocket.host == '')",message="the host of a probe must be left out: the kubelet would connect to any host from the node"
	Startup *corev1.Probe `json:"startup,omitempty"`
}
