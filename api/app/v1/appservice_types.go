// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// DefaultSize is the number of pods of an AppService without spec.size. The operator applies this default when it reads
// a spec, and does not store it in the object. So a size that a user has set can be distinguished from the default.
const DefaultSize = 1

// AppService is a stateless application: pods of one image, and a Service in front of them.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="ReadyPods",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name is also the name of the Service and the value of a label of the pods; use at most 52 lower-case letters, digits and '-', beginning with a letter and ending with a letter or a digit"
type AppService struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the application.
	// +required
	Spec AppServiceSpec `json:"spec"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for a ready one.
	// +optional
	// +kubebuilder:default={replicas: 0, readyReplicas: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RolledOut", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Available", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status AppServiceStatus `json:"status,omitempty"`
}

// AppServiceSpec is the desired state of an application.
type AppServiceSpec struct {
	// size is the number of pods, 0 to 1000; default 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Size *int32 `json:"size,omitempty"`

	// image of the application. If the image reference is invalid, condition Ready reports it, and running pods
	// continue.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// resources of the container in each pod. Without them the container has no requests and no limits.
	// +optional
	Resources common.Resources `json:"resources,omitzero"`

	// envs are the environment variables of the container.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !has(e.valueFrom) || !has(e.valueFrom.resourceFieldRef) || !has(e.valueFrom.resourceFieldRef.divisor) || type(e.valueFrom.resourceFieldRef.divisor) == int || e.valueFrom.resourceFieldRef.divisor in ['0', '1', '1m', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'])",message="the divisor of a resourceFieldRef must be 1 or 1m, or 1 with a unit of memory, such as 1Mi"
	Envs []corev1.EnvVar `json:"envs,omitempty"`

	// ports that the application serves. If one of them has a nodePort, the Service is reachable at every node,
	// otherwise only inside the cluster. Without ports there is no Service.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.port == p.port && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="a port is listed twice; list each combination of port and protocol only once"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",message="two ports have the same name; use another name for one of them"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.nodePort) || p.nodePort == 0 || self.exists_one(q, has(q.nodePort) && q.nodePort == p.nodePort && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="two ports have the same nodePort; use another nodePort for one of them"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.targetPort) || type(p.targetPort) == int || self.exists_one(q, has(q.targetPort) && type(q.targetPort) == string && q.targetPort == p.targetPort))",message="two ports have the same targetPort name; a name stands for one port of the container, so use another name"
	Ports []common.Port `json:"ports,omitempty"`

	// securityProfile Restricted makes the pods meet the restricted Pod Security Standard: no container runs as root or
	// has capabilities. If this field is not set, the pods meet that standard only if the namespace enforces it.
	// +optional
	SecurityProfile common.SecurityProfile `json:"securityProfile,omitempty"`

	// pod sets the nodes on which the pods may run, and labels and annotations for other tools.
	// +optional
	Pod *common.PodOverride `json:"pod,omitempty"`
}

// AppServiceStatus is the observed state of the application.
type AppServiceStatus struct {
	// replicas is the desired number of pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of ready pods.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector is the label selector of the pods, which the scale subresource needs.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the application; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// AppServiceList is a list of AppService objects.
// +kubebuilder:object:root=true
type AppServiceList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AppService `json:"items"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (a *AppService) StatusConditions() *[]metav1.Condition { return &a.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (a *AppService) StatusObservedGeneration() *int64 { return &a.Status.ObservedGeneration }

// Replicas returns the desired number of pods: spec.size, or DefaultSize.
func (s AppServiceSpec) Replicas() int32 {
	if s.Size != nil {
		return *s.Size
	}
	return DefaultSize
}
