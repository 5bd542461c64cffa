// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import (
	corev1 "k8s.io/api/core/v1"
)

// The validation rule of Resources skips amounts that have an exponent: to compare an amount such as 1e999999999, the
// API server would need hours. The rule of Amount refuses such amounts, but the API server evaluates the rule of
// Resources nevertheless.

// Resources are the requests and limits of a container.
// +kubebuilder:object:generate=true
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.requests) || self.requests.all(r, !(r in self.limits) || string(self.requests[r]).matches('[eE]') || string(self.limits[r]).matches('[eE]') || !quantity(string(self.requests[r])).isGreaterThan(quantity(string(self.limits[r]))))",message="requests must not be higher than limits"
type Resources struct {
	// limits are the maximum amounts that the container may use, by resource name, such as cpu: 500m and memory: 128Mi.
	// Resources that are not listed have no limit.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Limits map[corev1.ResourceName]Amount `json:"limits,omitempty"`

	// requests are the amounts that Kubernetes reserves for the container, by resource name. A request must not exceed
	// the limit of the same resource, and defaults to that limit.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Requests map[corev1.ResourceName]Amount `json:"requests,omitempty"`
}

// Port is one port of an application: its number in the Service, and the container port that receives the traffic.
// +kubebuilder:object:generate=true
type Port struct {
	// name of the port in the Service, at most 15 lower-case letters, digits and '-'. The default consists of the
	// protocol and the port number, such as tcp-80.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// protocol of the port: TCP, UDP or SCTP; default TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// appProtocol is the application protocol on the port, such as http or kubernetes.io/h2c, as a hint for proxies and
	// load balancers. Without it they treat the traffic as plain TCP or UDP.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AppProtocol string `json:"appProtocol,omitempty"`

	// port is the port number of the Service, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// targetPort is the port on which the container listens: a number from 1 to 65535, or a name. If it is a name, the
	// operator gives this name to the container port whose number is in the field port. The default is the number in
	// port.
	// +optional
	TargetPort TargetPort `json:"targetPort,omitempty"`

	// nodePort is the port that the Service opens on every node; 0 lets Kubernetes choose a free one. Without nodePort
	// the port is not open on nodes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	NodePort *int32 `json:"nodePort,omitempty"`
}

// Probes check whether a container has started, is ready for requests, and still works.
// +kubebuilder:object:generate=true
type Probes struct {
	// readiness is the probe that decides whether the pod gets requests: while the probe fails, the Service sends none
	// to the pod.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) != int || self.httpGet.port >= 1 && self.httpGet.port <= 65535) && (!has(self.tcpSocket) || type(self.tcpSocket.port) != int || self.tcpSocket.port >= 1 && self.tcpSocket.port <= 65535)",message="the port of a probe must be a number from 1 to 65535, or the name of a port"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host) || self.httpGet.host == '') && (!has(self.tcpSocket) || !has(self.tcpSocket.host) || self.tcpSocket.host == '')",message="probes.readiness: host must not be set, because a probe connects to its own pod; remove host"
	Readiness *corev1.Probe `json:"readiness,omitempty"`
	// liveness is the probe that decides whether the container still works: when the probe fails, Kubernetes restarts
	// the container. Without it a container is restarted only when it exits.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) != int || self.httpGet.port >= 1 && self.httpGet.port <= 65535) && (!has(self.tcpSocket) || type(self.tcpSocket.port) != int || self.tcpSocket.port >= 1 && self.tcpSocket.port <= 65535)",message="the port of a probe must be a number from 1 to 65535, or the name of a port"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host) || self.httpGet.host == '') && (!has(self.tcpSocket) || !has(self.tcpSocket.host) || self.tcpSocket.host == '')",message="probes.liveness: host must not be set, because a probe connects to its own pod; remove host"
	Liveness *corev1.Probe `json:"liveness,omitempty"`
	// startup is the probe that decides whether the container has started: the liveness and readiness probes begin only
	// after it succeeds. Without it they begin at once.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) != int || self.httpGet.port >= 1 && self.httpGet.port <= 65535) && (!has(self.tcpSocket) || type(self.tcpSocket.port) != int || self.tcpSocket.port >= 1 && self.tcpSocket.port <= 65535)",message="the port of a probe must be a number from 1 to 65535, or the name of a port"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host) || self.httpGet.host == '') && (!has(self.tcpSocket) || !has(self.tcpSocket.host) || self.tcpSocket.host == '')",message="probes.startup: host must not be set, because a probe connects to its own pod; remove host"
	Startup *corev1.Probe `json:"startup,omitempty"`
}
