// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of a Memcached. The operator applies them when it reads a spec, and does not store them in the object. A
// value that a user set stays distinguishable from a default.
const (
	DefaultImage          = "memcached:1.6.38"
	DefaultExporterImage  = "prom/memcached-exporter:v0.15.3"
	DefaultMemory         = "64Mi"
	DefaultThreads        = 4
	DefaultPort           = 11211
	DefaultMaxConnections = 1024
)

// ExporterPort is the port on which the exporter container serves metrics to Prometheus.
const ExporterPort = 9150

// Memcached is a set of memcached servers with stable names. A client that distributes keys by server name finds each
// key on the same server after every restart.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="ReadyNodes",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name is the name of the Service, and the pods are named <name>-0, <name>-1, ...; use at most 52 lower-case letters, digits and '-', beginning with a letter and ending with a letter or a digit"
type Memcached struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the servers.
	// +required
	Spec MemcachedSpec `json:"spec"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for a ready one.
	// +optional
	// +kubebuilder:default={replicas: 0, readyReplicas: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ServersReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status MemcachedStatus `json:"status,omitempty"`
}

// MemcachedSpec is the desired state of the servers.
// +kubebuilder:validation:XValidation:rule="!(has(self.exporter) && has(self.port) && self.port == 9150)",message="port 9150 is used by the exporter; choose another port for memcached"
type MemcachedSpec struct {
	// size is the number of servers, 0 to 1000. A change moves a share of the keys to other servers; status.lastResize
	// shows this share.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Size int32 `json:"size"`

	// image of memcached; default memcached:1.6.38. A change restarts the servers one after another.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// memory is how much each server may use for cached items (memcached -m), from 8Mi to 1Ti; default 64Mi. The
	// operator sets the container's memory limit higher, because connections and the program itself also need memory.
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[0-9]{1,15}([.][0-9]{1,9})?(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$') && !quantity(string(self)).isLessThan(quantity('8Mi')) && !quantity(string(self)).isGreaterThan(quantity('1Ti'))",message="memory of a server must be from 8Mi to 1Ti, written as a number and a unit such as 512Mi"
	Memory *resource.Quantity `json:"memory,omitempty"`

	// threads is the number of worker threads of each server (memcached -t), 1 to 128; default 4.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	Threads *int32 `json:"threads,omitempty"`

	// port on which each server listens (memcached -p), 1024 to 65535; default 11211. The port is part of the server
	// names by which clients distribute keys, so a change moves keys to other servers.
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// maxConnections is the maximum number of client connections of each server (memcached -c), 1 to 1000000; default
	// 1024.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// exporter adds a container to each pod that exports the server's metrics to Prometheus on port 9150. Without it
	// there is no exporter.
	// +optional
	Exporter *Exporter `json:"exporter,omitempty"`

	// pod sets the nodes on which the pods may run, and labels and annotations for other tools.
	// +optional
	Pod *common.PodOverride `json:"pod,omitempty"`

	// access lists the clients that may connect, as peers of a NetworkPolicy: podSelector, namespaceSelector or
	// ipBlock. Without it every client may connect. opcrew's own pods may always connect.
	// +optional
	Access common.Access `json:"access,omitempty"`
}

// Exporter is the container that exports a server's metrics to Prometheus.
type Exporter struct {
	// image of the exporter; default prom/memcached-exporter:v0.15.3.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
}

// MemcachedStatus is the observed state of the servers.
type MemcachedStatus struct {
	// nodes are the names of the memcached pods, sorted by their number.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes"`

	// servers is the server list for clients that distribute keys by server name, in the order of nodes. Each entry is
	// <pod>.<name>.<namespace>.svc:<port>. The ConfigMap <name>-servers contains the same list.
	// +optional
	// +listType=atomic
	Servers []string `json:"servers,omitempty"`

	// replicas is the number of servers after the last completed change of size.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of servers that respond.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector is the label selector of the pods, which the scale subresource needs.
	// +optional
	Selector string `json:"selector,omitempty"`

	// lastResize shows which share of the keys the last change of size moved to other servers.
	// +optional
	LastResize *Resize `json:"lastResize,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the servers; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Resize is a change of the number of servers.
type Resize struct {
	// from is the number of servers before the change.
	// +required
	From int32 `json:"from"`
	// to is the number of servers after the change.
	// +required
	To int32 `json:"to"`
	// keysMovedPercent is the share of keys, in percent, that clients with consistent hashing (ketama) now look for on
	// another server: the difference between to and from, divided by the larger of them, rounded up. Clients that hash
	// by modulo look for nearly all keys on another server.
	// +required
	KeysMovedPercent int32 `json:"keysMovedPercent"`
}

// MemcachedList is a list of Memcached objects.
// +kubebuilder:object:root=true
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Memcached `json:"items"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (m *Memcached) StatusConditions() *[]metav1.Condition { return &m.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (m *Memcached) StatusObservedGeneration() *int64 { return &m.Status.ObservedGeneration }
