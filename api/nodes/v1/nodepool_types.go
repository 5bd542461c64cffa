// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// RolePrefix is the prefix of the label of the nodes in a pool; the name of the pool follows it. In the output of kubectl
// get nodes, column ROLES shows the part after the slash.
const RolePrefix = "node-role.kubernetes.io/"

// DefaultHandler is the runtime handler of a pool that does not set spec.handler.
const DefaultHandler = "runc"

// NodePool is a named set of nodes with common labels, taints and annotations. It has a RuntimeClass of the same name,
// which schedules pods to these nodes.
//
// A node belongs to the pool if it has the label node-role.kubernetes.io/<name>, or if it matches spec.nodeSelector.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:scope=Cluster,categories=opcrew,shortName=npool
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Status",type=integer,JSONPath=`.status.status`,description="200 if Ready is True; otherwise 503, and column Reason shows why"
// +kubebuilder:printcolumn:name="NodeCount",type=integer,JSONPath=`.status.nodeCount`
// +kubebuilder:printcolumn:name="NodesReady",type=integer,JSONPath=`.status.readyNodes`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Updated",type=integer,JSONPath=`.status.updatedNodes`,priority=1
// +kubebuilder:printcolumn:name="Cordoned",type=integer,JSONPath=`.status.cordonedNodes`,priority=1
// +kubebuilder:printcolumn:name="Remediating",type=integer,JSONPath=`.status.remediatingNodes`,priority=1
// +kubebuilder:printcolumn:name="Fenced",type=integer,JSONPath=`.status.fencedNodes`,priority=1
// +kubebuilder:printcolumn:name="Joining",type=integer,JSONPath=`.status.joiningNodes`,priority=1
// +kubebuilder:printcolumn:name="Leaving",type=integer,JSONPath=`.status.leavingNodes`,priority=1
// +kubebuilder:printcolumn:name="Handler",type=string,JSONPath=`.spec.handler`,priority=1
// +kubebuilder:printcolumn:name="Firewall",type=integer,JSONPath=`.status.firewall.activeNodes`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name is the last part of the node label node-role.kubernetes.io/<name>; use at most 63 characters"
type NodePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the pool's nodes.
	// +optional
	Spec NodePoolSpec `json:"spec,omitempty"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for a ready one.
	// +optional
	// +kubebuilder:default={nodeCount: 0, readyNodes: 0, cordonedNodes: 0, updatedNodes: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RuntimeClassReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "NodesUpdated", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Conflict", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "HandlerAvailable", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolSpec is the desired state of a pool's nodes.
type NodePoolSpec struct {
	// taints are set on every node of the pool, and the RuntimeClass of the pool tolerates them. Each combination of
	// key and effect may appear once.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`

	// labels are set on every node of the pool. The RuntimeClass of the pool selects the nodes by these labels.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.indexOf('/') <= 253 && k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="a label's key must be [prefix/]name; the prefix is a lower-case DNS name, and the name has at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/') || k.matches('^([^/]*[.])?node-restriction[.]kubernetes[.]io/') || k == 'node.kubernetes.io/exclude-from-external-load-balancers')",message="labels under kubernetes.io and k8s.io are reserved for Kubernetes; use your own domain in the key, or node-restriction.kubernetes.io/ for labels that a kubelet must not change"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?opcrew[.]io/'))",message="labels under opcrew.io are reserved for the operator; use your own domain in the key"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('machineconfiguration.openshift.io/'))",message="labels under machineconfiguration.openshift.io are reserved for MachineConfig; use your own domain in the key"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are set on every node of the pool. All annotations of a node together may have 256 KiB, including
	// those of other owners and of the operator.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.indexOf('/') <= 253 && k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="an annotation's key must be [prefix/]name; the prefix is a lower-case DNS name, and the name has at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?((kubernetes|k8s|opcrew)[.]io)/'))",message="a pool cannot set annotations under kubernetes.io, k8s.io and opcrew.io; use your own domain in the key"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('machineconfiguration.openshift.io/'))",message="annotations under machineconfiguration.openshift.io are orders to machine agents and their reports; use your own domain in the key"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// nodeSelector adds every node that has all of these labels to the pool, and the operator gives it the pool's role
	// label. Labels that a NodePool has set on the node are not considered. Without nodeSelector only nodes with the
	// role label belong to the pool.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317)",message="the key of a label can have at most 317 characters"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('node-role.kubernetes.io/'))",message="nodeSelector must not contain role labels (node-role.kubernetes.io/<pool>): a node with the role label of a pool already belongs to that pool; remove them"
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// handler of the pool's RuntimeClass: the name of a runtime in the configuration of containerd or CRI-O; default
	// runc. A change replaces the RuntimeClass, and running pods continue.
	// +optional
	// +kubebuilder:default=runc
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a handler must be a DNS label: lower-case letters, digits and '-', such as runc"
	Handler string `json:"handler,omitempty"`

	// overhead is what a pod of the pool uses in addition to its containers, as in a RuntimeClass. Without it the
	// scheduler counts only the requests of the containers.
	// +optional
	Overhead *Overhead `json:"overhead,omitempty"`

	// allowNoExecuteOnControlPlane makes the operator set NoExecute taints also on control plane nodes; default false.
	// Such a taint evicts every pod that does not tolerate it, regardless of PodDisruptionBudgets. A control plane node
	// is one with the label node-role.kubernetes.io/control-plane.
	// +optional
	AllowNoExecuteOnControlPlane bool `json:"allowNoExecuteOnControlPlane,omitempty"`

	// machineConfigSelector configures the hosts of the pool's nodes with the MachineConfigs that it selects. The
	// operator then keeps a MachineConfigPool with the name of the pool, whose nodes are those with the pool's role
	// label; other fields of it, such as paused and maxUnavailable, are yours. An empty selector selects no
	// MachineConfig. Who sets this field is root on the nodes, and needs the verb apply on resource machines of group
	// machineconfiguration.openshift.io. If the field is removed, the MachineConfigPool is deleted, and hosts keep
	// their configuration. The field needs make install-machineconfig.
	// +optional
	MachineConfigSelector *metav1.LabelSelector `json:"machineConfigSelector,omitempty"`

	// remediation powers off the machine of a node that is not Ready for some time, and lets its pods run elsewhere
	// once there is evidence that the machine is off. Its commands are root on other hosts. Who sets this field needs
	// the verb run on resource hosts, and the verb run-as on resource hostusers, of group ego.example.com.
	// +optional
	Remediation *Remediation `json:"remediation,omitempty"`

	Pipelines     `json:",inline"`
	MachineChecks `json:",inline"`
	// firewall says which packets for the addresses of the pool's nodes are allowed. An agent on each node keeps the
	// rules in an nftables table of its own. A node that joins gets the rules, and becomes a source of rules that name its
	// pool. A node without contact to the API server after a change restores its previous rules. Without this field, the
	// pool restricts nothing.
	// +optional
	Firewall *Firewall `json:"firewall,omitempty"`
}

// LabelValue is the value of a node label.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="a label's value must be empty or at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
type LabelValue string

// AnnotationValue is the value of a node annotation.
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string

// Taint keeps pods that do not tolerate it away from the nodes of the pool.
// +kubebuilder:validation:XValidation:rule="!self.key.matches('^([^/]*[.])?opcrew[.]io/')",message="taints under opcrew.io are reserved for the operator; use your own domain in the key"
// +kubebuilder:validation:XValidation:rule="self.key != 'UpdateInProgress'",message="the taint UpdateInProgress is reserved for MachineConfig, which marks nodes that have still to change with it; use your own key"
// +kubebuilder:validation:XValidation:rule="!(self.key.startsWith('node.kubernetes.io/') && self.key != 'node.kubernetes.io/out-of-service') && !self.key.startsWith('node.cloudprovider.kubernetes.io/')",message="taints under node.kubernetes.io/ and node.cloudprovider.kubernetes.io/ are set by Kubernetes itself; use your own domain in the key"
// +kubebuilder:validation:XValidation:rule="self.key != 'node-role.kubernetes.io/control-plane' && self.key != 'node-role.kubernetes.io/master'",message="control plane taints are reserved for the installer of the cluster; use your own key"
type Taint struct {
	// key of the taint, such as example.com/gpu.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253 && self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="a taint's key must be [prefix/]name; the prefix is a lower-case DNS name, and the name has at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	Key string `json:"key"`

	// value of the taint; default empty.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="a taint's value must be empty or at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	Value string `json:"value,omitempty"`

	// effect on pods that do not tolerate the taint: NoSchedule places no new pods on the node, PreferNoSchedule avoids
	// it, and NoExecute also evicts running pods.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect"`

	// timeAdded is accepted and has no effect. It exists because the tutorial article that this API comes from uses the
	// Taint type of Kubernetes. It is a string, so that an invalid time in one pool cannot prevent clients from listing
	// all pools.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeAdded string `json:"timeAdded,omitempty"`
}

// Overhead is what a pod of the pool uses in addition to its containers.
type Overhead struct {
	// podFixed are the resources that each pod uses in addition to its containers, such as {cpu: 250m, memory: 120Mi}.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	PodFixed map[corev1.ResourceName]common.Amount `json:"podFixed,omitempty"`
}

// NodePoolStatus is the observed state of a pool.
type NodePoolStatus struct {
	// status is a summary of the conditions, as in the tutorial article that this API comes from: 200 when condition
	// Ready is True, otherwise 503.
	// +optional
	Status int32 `json:"status,omitempty"`

	// nodeCount is the number of nodes that belong to the pool.
	// +optional
	NodeCount int32 `json:"nodeCount"`

	// readyNodes is the number of the pool's nodes whose condition Ready is True.
	// +optional
	ReadyNodes int32 `json:"readyNodes"`

	// cordonedNodes is the number of the pool's nodes that are unschedulable.
	// +optional
	CordonedNodes int32 `json:"cordonedNodes"`

	// updatedNodes is the number of the pool's nodes that have all labels, taints and annotations in the pool's spec.
	// +optional
	UpdatedNodes int32 `json:"updatedNodes"`

	// allocatable are the resources that the pool's nodes together offer to pods.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`

	// conflicts are the labels, annotations and taints that the pool cannot set, because another owner has set them to
	// another value. At most 16 are listed, sorted by key.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Conflicts []Conflict `json:"conflicts,omitempty"`

	RemediationStatus `json:",inline"`

	PipelineStatus `json:",inline"`
	// firewall is the observed state of the pool's firewall. It exists only while spec.firewall is set.
	// +optional
	Firewall *FirewallStatus `json:"firewall,omitempty"`

	// preview shows what the operator would change. It exists only while the pool has the annotation opcrew.io/dry-run:
	// "true".
	// +optional
	Preview *Preview `json:"preview,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the pool; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConflictKind is what a conflict is about: a label, an annotation or a taint.
// +kubebuilder:validation:Enum=Label;Annotation;Taint
type ConflictKind string

// Values of ConflictKind.
const (
	ConflictLabel      ConflictKind = "Label"
	ConflictAnnotation ConflictKind = "Annotation"
	ConflictTaint      ConflictKind = "Taint"
)

// Conflict is a label, annotation or taint that the pool cannot set, because another owner has set it to another value.
type Conflict struct {
	// kind is what the conflict is about: Label, Annotation or Taint.
	// +required
	Kind ConflictKind `json:"kind"`
	// key of the label or annotation, or <key>:<effect> of the taint.
	// +required
	Key string `json:"key"`
	// wanted is the value in the pool's spec.
	// +optional
	Wanted string `json:"wanted"`
	// found is the value that the first node in nodes has.
	// +optional
	Found string `json:"found"`
	// owner is the pool that set the other value; empty if no pool did.
	// +optional
	Owner string `json:"owner,omitempty"`
	// nodeCount is the number of nodes that have this conflict.
	// +required
	NodeCount int32 `json:"nodeCount"`
	// nodes are the names of the nodes that have this conflict, at most three.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
}

// Preview shows what the operator would change on the nodes of a pool.
type Preview struct {
	// nodeCount is the number of nodes that would change.
	// +optional
	NodeCount int32 `json:"nodeCount"`
	// changes describe the changes, at most 32, such as "add label a=b on 12 nodes (node1, node2, node3, ...)".
	// +optional
	// +listType=atomic
	Changes []string `json:"changes,omitempty"`
	// evictionCount is the number of pods that NoExecute taints would evict.
	// +optional
	EvictionCount int32 `json:"evictionCount"`
	// evictions are the pods that NoExecute taints would evict, at most 16, each written as "namespace/pod on node".
	// +optional
	// +listType=atomic
	Evictions []string `json:"evictions,omitempty"`
}

// NodePoolList is a list of NodePool objects.
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodePool `json:"items"`
}

// RoleLabel returns the key of the label of the pool's nodes: node-role.kubernetes.io/<name>.
func (p *NodePool) RoleLabel() string { return RolePrefix + p.Name }

// Handler returns the handler of the pool's RuntimeClass: spec.handler, or DefaultHandler.
func (p *NodePool) Handler() string {
	if p.Spec.Handler == "" {
		return DefaultHandler
	}
	return p.Spec.Handler
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (p *NodePool) StatusConditions() *[]metav1.Condition { return &p.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (p *NodePool) StatusObservedGeneration() *int64 { return &p.Status.ObservedGeneration }
