// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// RolePrefix and the pool's name make the label by which nodes belong to a pool.
// kubectl shows the part behind the slash in its ROLES column.
const RolePrefix = "node-role.kubernetes.io/"

// DefaultHandler is the runtime handler of a pool that names none.
const DefaultHandler = "runc"

// NodePool is a named set of nodes that share labels, taints and annotations,
// and a RuntimeClass of the pool's name that brings pods to them.
//
// A node belongs to the pool when it carries the label
// node-role.kubernetes.io/<name>, or when it matches spec.nodeSelector.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:scope=Cluster,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Status",type=integer,JSONPath=`.status.status`,description="200: as wanted; 503: see Reason"
// +kubebuilder:printcolumn:name="NodeCount",type=integer,JSONPath=`.status.nodeCount`
// +kubebuilder:printcolumn:name="NodesReady",type=integer,JSONPath=`.status.readyNodes`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Updated",type=integer,JSONPath=`.status.updatedNodes`,priority=1
// +kubebuilder:printcolumn:name="Cordoned",type=integer,JSONPath=`.status.cordonedNodes`,priority=1
// +kubebuilder:printcolumn:name="Handler",type=string,JSONPath=`.spec.handler`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name: a pool's name is the last part of the node label node-role.kubernetes.io/<name>; use 63 characters at most"
type NodePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the nodes of the pool shall carry.
	// +optional
	Spec NodePoolSpec `json:"spec,omitempty"`

	// status is what was seen of the pool. Its default keeps a new pool from being taken for a ready one.
	// +optional
	// +kubebuilder:default={nodeCount: 0, readyNodes: 0, cordonedNodes: 0, updatedNodes: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RuntimeClassReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "NodesUpdated", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Conflict", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "HandlerAvailable", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolSpec is what the nodes of a pool shall carry.
type NodePoolSpec struct {
	// taints are put on every node of the pool. Key and effect together name a taint.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`

	// labels are put on every node of the pool, and select its nodes in the RuntimeClass.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.indexOf('/') <= 253 && k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="a label's key is [prefix/]name: the prefix a lower-case DNS name, the name at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/') || k.matches('^([^/]*[.])?node-restriction[.]kubernetes[.]io/') || k == 'node.kubernetes.io/exclude-from-external-load-balancers')",message="labels under kubernetes.io and k8s.io belong to Kubernetes; use a domain of your own, or node-restriction.kubernetes.io/ for labels that a kubelet must not change"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?opcrew[.]io/'))",message="labels under opcrew.io are the operator's own; use a domain of your own"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are put on every node of the pool. All annotations of a node together, those of
	// others and the operator's record of these included, can have 256 KiB.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.indexOf('/') <= 253 && k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="an annotation's key is [prefix/]name: the prefix a lower-case DNS name, the name at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?((kubernetes|k8s|opcrew)[.]io)/'))",message="annotations under kubernetes.io, k8s.io and opcrew.io are not a pool's; use a domain of your own"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// nodeSelector makes nodes that carry all of these labels members of the pool, beside those
	// with the role label; they get the role label. Labels that pools put on a node do not count.
	// An empty selector selects nothing.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317)",message="a key can have 317 characters at most"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('node-role.kubernetes.io/'))",message="role labels make members by themselves; leave them out of nodeSelector"
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// handler is the handler of the pool's RuntimeClass: the name of a runtime in the configuration
	// of containerd or CRI-O. The RuntimeClass is replaced when it changes; running pods stay.
	// +optional
	// +kubebuilder:default=runc
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a handler is a DNS label: lower-case letters, digits and '-', such as runc"
	Handler string `json:"handler,omitempty"`

	// overhead is what a pod of the pool costs on top of its containers, as in a RuntimeClass.
	// +optional
	Overhead *Overhead `json:"overhead,omitempty"`

	// allowNoExecuteOnControlPlane lets taints with effect NoExecute go on nodes that carry the label
	// node-role.kubernetes.io/control-plane. They evict every pod there that does not tolerate them,
	// without regard to disruption budgets; without this field they are withheld from such nodes.
	// +optional
	AllowNoExecuteOnControlPlane bool `json:"allowNoExecuteOnControlPlane,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="a label's value is empty or at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
type LabelValue string

// AnnotationValue is the value of an annotation.
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string

// Taint repels pods that do not tolerate it from the nodes of the pool.
// +kubebuilder:validation:XValidation:rule="!self.key.matches('^([^/]*[.])?opcrew[.]io/')",message="taints under opcrew.io are the operator's own; use a domain of your own"
// +kubebuilder:validation:XValidation:rule="!(self.key.startsWith('node.kubernetes.io/') && self.key != 'node.kubernetes.io/out-of-service') && !self.key.startsWith('node.cloudprovider.kubernetes.io/')",message="taints under node.kubernetes.io/ and node.cloudprovider.kubernetes.io/ are set by Kubernetes itself; use a domain of your own"
// +kubebuilder:validation:XValidation:rule="self.key != 'node-role.kubernetes.io/control-plane' && self.key != 'node-role.kubernetes.io/master'",message="control plane taints are the installer's; use a key of your own"
type Taint struct {
	// key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253 && self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="a taint's key is [prefix/]name: the prefix a lower-case DNS name, the name at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	Key string `json:"key"`

	// value of the taint.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="a taint's value is empty or at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	Value string `json:"value,omitempty"`

	// effect on pods that do not tolerate the taint.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect"`

	// timeAdded is accepted, because the tutorial's type has it, and ignored.
	// It is text here: a time that only the API server can read would hide every pool from clients.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeAdded string `json:"timeAdded,omitempty"`
}

// Overhead is what a pod of the pool costs on top of its containers.
type Overhead struct {
	// podFixed is the fixed amount of resources of a pod, such as {cpu: 250m, memory: 120Mi}.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	PodFixed map[corev1.ResourceName]common.Amount `json:"podFixed,omitempty"`
}

// NodePoolStatus is what was seen of a pool.
type NodePoolStatus struct {
	// status is the tutorial's summary: 200 when Ready is True, else 503.
	// +optional
	Status int32 `json:"status,omitempty"`

	// nodeCount is the number of nodes that belong to the pool.
	// +optional
	NodeCount int32 `json:"nodeCount"`

	// readyNodes is how many of them are Ready.
	// +optional
	ReadyNodes int32 `json:"readyNodes"`

	// cordonedNodes is how many of them are unschedulable.
	// +optional
	CordonedNodes int32 `json:"cordonedNodes"`

	// updatedNodes is how many of them carry all that the pool wants of them.
	// +optional
	UpdatedNodes int32 `json:"updatedNodes"`

	// allocatable is the sum of what the pool's nodes offer to pods.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`

	// conflicts name what the pool wants and does not get, the first 16 by key.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Conflicts []Conflict `json:"conflicts,omitempty"`

	// preview tells what would change; only while the pool is annotated opcrew.io/dry-run: "true".
	// +optional
	Preview *Preview `json:"preview,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the pool; Ready sums up the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConflictKind tells what kind of thing is in conflict.
// +kubebuilder:validation:Enum=Label;Annotation;Taint
type ConflictKind string

// What can be in conflict.
const (
	ConflictLabel      ConflictKind = "Label"
	ConflictAnnotation ConflictKind = "Annotation"
	ConflictTaint      ConflictKind = "Taint"
)

// Conflict is one thing that the pool wants on its nodes and somebody else holds with another value.
type Conflict struct {
	// kind of the thing.
	// +required
	Kind ConflictKind `json:"kind"`
	// key of the label or annotation; key:effect of a taint.
	// +required
	Key string `json:"key"`
	// wanted is the value that the pool wants.
	// +optional
	Wanted string `json:"wanted"`
	// found is the value that the first of the nodes carries.
	// +optional
	Found string `json:"found"`
	// owner is the pool that holds it, or empty when it was not put there by a pool.
	// +optional
	Owner string `json:"owner,omitempty"`
	// nodeCount is the number of nodes where it is so.
	// +required
	NodeCount int32 `json:"nodeCount"`
	// nodes names the first 3 of them.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
}

// Preview tells what the pool would change.
type Preview struct {
	// nodeCount is the number of nodes that would change.
	// +optional
	NodeCount int32 `json:"nodeCount"`
	// changes are lines such as "add label a=b on 12 nodes (node1, node2, node3, ...)", 32 at most.
	// +optional
	// +listType=atomic
	Changes []string `json:"changes,omitempty"`
	// evictionCount is the number of pods that a taint with effect NoExecute would evict.
	// +optional
	EvictionCount int32 `json:"evictionCount"`
	// evictions name them as "namespace/pod on node", 16 at most.
	// +optional
	// +listType=atomic
	Evictions []string `json:"evictions,omitempty"`
}

// NodePoolList is a list of pools.
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodePool `json:"items"`
}

// RoleLabel is the label by which nodes belong to the pool.
func (p *NodePool) RoleLabel() string { return RolePrefix + p.Name }

// Handler is the handler of the pool's RuntimeClass.
func (p *NodePool) Handler() string {
	if p.Spec.Handler == "" {
		return DefaultHandler
	}
	return p.Spec.Handler
}

// StatusConditions gives the shared core access to the conditions.
func (p *NodePool) StatusConditions() *[]metav1.Condition { return &p.Status.Conditions }

// StatusObservedGeneration gives the shared core access to the observed generation.
func (p *NodePool) StatusObservedGeneration() *int64 { return &p.Status.ObservedGeneration }
