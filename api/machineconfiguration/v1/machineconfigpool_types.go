// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Defaults of a MachineConfigPool. The operator applies them when it reads a spec, and does not store them.
const (
	DefaultMaxUnavailable = 1
	DefaultHistoryLimit   = 5
)

// MachineConfigPool is a set of nodes with the same configuration. The pool merges the MachineConfigs that it selects,
// and updates its nodes a few at a time.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=machineconfigpools,scope=Cluster,shortName=mcp,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Config",type=string,JSONPath=`.status.configuration.name`
// +kubebuilder:printcolumn:name="Updated",type=string,JSONPath=`.status.conditions[?(@.type=="Updated")].status`,description="True when all nodes have the configuration of the pool"
// +kubebuilder:printcolumn:name="Updating",type=string,JSONPath=`.status.conditions[?(@.type=="Updating")].status`,description="True while nodes change to the configuration of the pool"
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`,description="True if a node cannot be updated, or if the configuration cannot be rendered"
// +kubebuilder:printcolumn:name="MachineCount",type=number,JSONPath=`.status.machineCount`,description="number of nodes in the pool"
// +kubebuilder:printcolumn:name="ReadyMachineCount",type=number,JSONPath=`.status.readyMachineCount`,description="number of nodes that have the configuration of the pool and are ready"
// +kubebuilder:printcolumn:name="UpdatedMachineCount",type=number,JSONPath=`.status.updatedMachineCount`,description="number of nodes that have the configuration of the pool"
// +kubebuilder:printcolumn:name="DegradedMachineCount",type=number,JSONPath=`.status.degradedMachineCount`,description="number of nodes that could not be updated"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 200",message="metadata.name is part of the names of rendered MachineConfigs; use at most 200 characters"
type MachineConfigPool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the pool.
	// +required
	Spec MachineConfigPoolSpec `json:"spec"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for an updated pool.
	// +optional
	// +kubebuilder:default={configuration: {}, machineCount: 0, updatedMachineCount: 0, readyMachineCount: 0, unavailableMachineCount: 0, degradedMachineCount: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Updated", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Updating", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Degraded", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "NodeDegraded", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RenderDegraded", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RolloutBlocked", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Drifted", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status MachineConfigPoolStatus `json:"status,omitempty"`
}

// MachineConfigPoolSpec is the desired state of a pool.
type MachineConfigPoolSpec struct {
	// machineConfigSelector selects the MachineConfigs that the pool merges, usually by the label
	// machineconfiguration.openshift.io/role. Without a selector, or with an empty one, the pool selects none.
	// +optional
	MachineConfigSelector *metav1.LabelSelector `json:"machineConfigSelector,omitempty"`

	// nodeSelector selects the nodes of the pool. Without a selector, or with an empty one, the pool has no nodes. A
	// node that a custom pool and the pool worker select belongs to the custom pool. If two custom pools select a node,
	// opcrew does not change it, and both pools name it.
	// +optional
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`

	// paused stops changes of the pool's nodes; default false. A paused pool still renders its configuration, and
	// status shows what would change. A node that is already changing completes its update.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// maxUnavailable is the number of nodes, or the percentage of the pool's nodes, that may be unavailable at the same
	// time; default 1. A percentage is rounded down, and 0 means 1; to stop updates, set paused. Nodes that are
	// cordoned or not ready count, whatever the reason.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^(100|[0-9]{1,2})%$')",message="maxUnavailable must be a number of nodes, such as 2, or a percentage from 0% to 100%, such as 10%; to stop updates, set paused: true"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// configuration is the rendered MachineConfig that the nodes of the pool will have. The operator writes it; leave
	// it out of your manifests.
	// +optional
	Configuration PoolConfiguration `json:"configuration,omitempty"`

	// pinnedImageSets are sets of images that OpenShift keeps on the nodes. opcrew accepts the field, and it has no
	// effect.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	PinnedImageSets []PinnedImageSetRef `json:"pinnedImageSets,omitempty"`

	// osImageStream is the stream of operating system images that OpenShift installs on the nodes. opcrew accepts the
	// field, and it has no effect.
	// +optional
	OSImageStream *OSImageStreamReference `json:"osImageStream,omitempty"`

	// nodeDisruptionPolicy lists what a change of a file, a unit or SSH keys requires. In OpenShift, the object
	// MachineConfiguration cluster has this field for all pools. An entry here replaces the default for its path or
	// unit. A change of anything that is not listed requires a reboot.
	// +optional
	NodeDisruptionPolicy *NodeDisruptionPolicy `json:"nodeDisruptionPolicy,omitempty"`

	// rollout sets which nodes are updated first, and when opcrew stops an update.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`

	// driftPolicy is what happens when a node differs from its configuration because another program or a user changed
	// it. Report, the default, shows the difference in condition Drifted. Repair also restores the configuration. Adopt
	// keeps the change of the node, and reports it, until the MachineConfig of that path changes.
	// +optional
	// +kubebuilder:validation:Enum=Report;Repair;Adopt
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// historyLimit is the number of earlier rendered MachineConfigs that are kept for a rollback, 0 to 100; default 5.
	// Those that a node has or needs are kept in addition.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
}

// DriftPolicy is what happens when a node differs from its configuration.
type DriftPolicy string

// Values of DriftPolicy.
const (
	DriftReport DriftPolicy = "Report"
	DriftRepair DriftPolicy = "Repair"
	DriftAdopt  DriftPolicy = "Adopt"
)

// Reference refers to a MachineConfig. It has the fields of a reference in Kubernetes' core API, as in OpenShift.
// opcrew writes apiVersion, kind and name.
// +structType=atomic
type Reference struct {
	// kind of the object: MachineConfig.
	// +optional
	Kind string `json:"kind,omitempty"`
	// namespace is empty, because MachineConfigs have none.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the MachineConfig.
	// +optional
	Name string `json:"name,omitempty"`
	// uid of the MachineConfig.
	// +optional
	UID string `json:"uid,omitempty"`
	// apiVersion of the object: machineconfiguration.openshift.io/v1.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// resourceVersion of the MachineConfig.
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// fieldPath is part of OpenShift's API. opcrew does not write it.
	// +optional
	FieldPath string `json:"fieldPath,omitempty"`
}

// PoolConfiguration refers to a rendered MachineConfig.
type PoolConfiguration struct {
	Reference `json:",inline"`

	// source are the MachineConfigs that were merged, in the order in which they were merged.
	// +optional
	// +listType=atomic
	Source []Reference `json:"source,omitempty"`
}

// PinnedImageSetRef names a PinnedImageSet of OpenShift.
type PinnedImageSetRef struct {
	// name of the PinnedImageSet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// OSImageStreamReference names an OSImageStream of OpenShift.
type OSImageStreamReference struct {
	// name of the OSImageStream.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// MachineConfigPoolList is a list of MachineConfigPool objects.
// +kubebuilder:object:root=true
type MachineConfigPoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MachineConfigPool `json:"items"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (p *MachineConfigPool) StatusConditions() *[]metav1.Condition { return &p.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (p *MachineConfigPool) StatusObservedGeneration() *int64 { return &p.Status.ObservedGeneration }
