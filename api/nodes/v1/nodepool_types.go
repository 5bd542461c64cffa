// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// RolePrefix and the pool's name form the label of the nodes of a pool. kubectl shows
// the part after the slash in its ROLES column.
const RolePrefix = "node-role.kubernetes.io/"

// DefaultHandler is the runtime handler of a pool without spec.handler.
const DefaultHandler = "runc"

// NodePool is a named set of nodes that share labels, taints and annotations,
// and a RuntimeClass of the pool's name that schedules pods to them.
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

	// spec is the desired state of the pool's nodes.
	// +optional
	Spec NodePoolSpec `json:"spec,omitempty"`

	// status is the observed state. Its default keeps clients from taking a new pool for a ready one.
	// +optional
	// +kubebuilder:default={nodeCount: 0, readyNodes: 0, cordonedNodes: 0, updatedNodes: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RuntimeClassReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "NodesUpdated", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Conflict", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "HandlerAvailable", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolSpec is the desired state of a pool's nodes.
type NodePoolSpec struct {
	// taints are set on every node of the pool. Key and effect together name a taint.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`

	// labels are set on every node of the pool, and select its nodes in the RuntimeClass.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.indexOf('/') <= 253 && k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="a label's key must be [prefix/]name: the prefix a lower-case DNS name, the name at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/') || k.matches('^([^/]*[.])?node-restriction[.]kubernetes[.]io/') || k == 'node.kubernetes.io/exclude-from-external-load-balancers')",message="labels under kubernetes.io and k8s.io belong to Kubernetes; use a domain of your own, or node-restriction.kubernetes.io/ for labels that a kubelet must not change"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?opcrew[.]io/'))",message="labels under opcrew.io are reserved for the operator; use a domain of your own"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are set on every node of the pool. All annotations of a node together can have
	// 256 KiB, including those of other owners and the operator's record of its own.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.indexOf('/') <= 253 && k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="an annotation's key must be [prefix/]name: the prefix a lower-case DNS name, the name at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?((kubernetes|k8s|opcrew)[.]io)/'))",message="a pool cannot set annotations under kubernetes.io, k8s.io and opcrew.io; use a domain of your own"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// nodeSelector adds nodes with all of these labels to the pool, in addition to those with the
	// role label, and gives them the role label. Labels that pools set on a node do not count. An
	// empty selector selects nothing.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317)",message="a key can have 317 characters at most"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('node-role.kubernetes.io/'))",message="nodes with a role label are members already; leave role labels out of nodeSelector"
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// handler is the handler of the pool's RuntimeClass: the name of a runtime in the configuration
	// of containerd or CRI-O. A change replaces the RuntimeClass; running pods continue.
	// +optional
	// +kubebuilder:default=runc
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a handler must be a DNS label: lower-case letters, digits and '-', such as runc"
	Handler string `json:"handler,omitempty"`

	// overhead is what a pod of the pool uses in addition to its containers, as in a RuntimeClass.
	// +optional
	Overhead *Overhead `json:"overhead,omitempty"`

	// allowNoExecuteOnControlPlane also sets taints with effect NoExecute on nodes with the label
	// node-role.kubernetes.io/control-plane. There they evict every pod that does not tolerate them,
	// regardless of disruption budgets. Without this field such nodes do not get these taints.
	// +optional
	AllowNoExecuteOnControlPlane bool `json:"allowNoExecuteOnControlPlane,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="a label's value must be empty or at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
type LabelValue string

// AnnotationValue is the value of an annotation.
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string

// Taint repels pods that do not tolerate it from the nodes of the pool.
// +kubebuilder:validation:XValidation:rule="!self.key.matches('^([^/]*[.])?opcrew[.]io/')",message="taints under opcrew.io are reserved for the operator; use a domain of your own"
// +kubebuilder:validation:XValidation:rule="!(self.key.startsWith('node.kubernetes.io/') && self.key != 'node.kubernetes.io/out-of-service') && !self.key.startsWith('node.cloudprovider.kubernetes.io/')",message="taints under node.kubernetes.io/ and node.cloudprovider.kubernetes.io/ are set by Kubernetes itself; use a domain of your own"
// +kubebuilder:validation:XValidation:rule="self.key != 'node-role.kubernetes.io/control-plane' && self.key != 'node-role.kubernetes.io/master'",message="control plane taints are reserved for the installer; use a key of your own"
type Taint struct {
	// key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253 && self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="a taint's key must be [prefix/]name: the prefix a lower-case DNS name, the name at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	Key string `json:"key"`

	// value of the taint.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="a taint's value must be empty or at most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit"
	Value string `json:"value,omitempty"`

	// effect on pods that do not tolerate the taint.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect"`

	// timeAdded is accepted, because the tutorial's type has it, and ignored. It is text, because
	// a time that a client cannot parse would hide every pool from that client.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeAdded string `json:"timeAdded,omitempty"`
}

// Overhead is what a pod of the pool uses in addition to its containers.
type Overhead struct {
	// podFixed is the fixed amount of resources of a pod, such as {cpu: 250m, memory: 120Mi}.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	PodFixed map[corev1.ResourceName]common.Amount `json:"podFixed,omitempty"`
}

// NodePoolStatus is the observed state of a pool.
type NodePoolStatus struct {
	// status is the tutorial's summary: 200 when Ready is True, else 503.
	// +optional
	Status int32 `json:"status,omitempty"`

	// nodeCount is the number of nodes that belong to the pool.
	// +optional
	NodeCount int32 `json:"nodeCount"`

	// readyNodes is the number of these nodes that are Ready.
	// +optional
	ReadyNodes int32 `json:"readyNodes"`

	// cordonedNodes is the number of these nodes that are unschedulable.
	// +optional
	CordonedNodes int32 `json:"cordonedNodes"`

	// updatedNodes is the number of these nodes with all labels, taints and annotations of the pool.
	// +optional
	UpdatedNodes int32 `json:"updatedNodes"`

	// allocatable is the sum of what the pool's nodes offer to pods.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`

	// conflicts are keys that the pool cannot set because another owner holds them, the first 16 by key.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Conflicts []Conflict `json:"conflicts,omitempty"`

	// preview shows what would change; only while the pool has the annotation opcrew.io/dry-run: "true".
	// +optional
	Preview *Preview `json:"preview,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the pool; Ready summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConflictKind is the type of a key in conflict.
// +kubebuilder:validation:Enum=Label;Annotation;Taint
type ConflictKind string

// The values of ConflictKind.
const (
	ConflictLabel      ConflictKind = "Label"
	ConflictAnnotation ConflictKind = "Annotation"
	ConflictTaint      ConflictKind = "Taint"
)

// Conflict is a key that the pool sets on its nodes and that another owner holds with another value.
type Conflict struct {
	// kind of the key.
	// +required
	Kind ConflictKind `json:"kind"`
	// key of the label or annotation; key:effect of a taint.
	// +required
	Key string `json:"key"`
	// wanted is the value in the spec of the pool.
	// +optional
	Wanted string `json:"wanted"`
	// found is the value on the first of the nodes.
	// +optional
	Found string `json:"found"`
	// owner is the pool that holds the key, or empty when no pool set it.
	// +optional
	Owner string `json:"owner,omitempty"`
	// nodeCount is the number of nodes with this conflict.
	// +required
	NodeCount int32 `json:"nodeCount"`
	// nodes names the first 3 of them.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
}

// Preview shows what the pool would change.
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

// RoleLabel is the label of the pool's nodes.
func (p *NodePool) RoleLabel() string { return RolePrefix + p.Name }

// Handler is the handler of the pool's RuntimeClass.
func (p *NodePool) Handler() string {
	if p.Spec.Handler == "" {
		return DefaultHandler
	}
	return p.Spec.Handler
}

// StatusConditions returns the conditions for the reconcile loop to write.
func (p *NodePool) StatusConditions() *[]metav1.Condition { return &p.Status.Conditions }

// StatusObservedGeneration returns the observed generation for the reconcile loop to write.
func (p *NodePool) StatusObservedGeneration() *int64 { return &p.Status.ObservedGeneration }
