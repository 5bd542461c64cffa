// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import (
	corev1 "k8s.io/api/core/v1"
)

// SecurityProfile is the Pod Security Standard that an application's pods meet.
// +kubebuilder:validation:Enum=Restricted
type SecurityProfile string

// SecurityProfileRestricted makes pods meet the restricted Pod Security Standard.
const SecurityProfileRestricted SecurityProfile = "Restricted"

// PodOverride sets on which nodes an object's pods run, and which labels and annotations they get for other tools. The
// operator alone sets containers, commands, ports and volumes.
// +kubebuilder:object:generate=true
type PodOverride struct {
	// labels are added to the pods. They cannot replace a label that the operator sets. Keys by which opcrew selects pods
	// are reserved, such as those that begin with opcrew.io/, redis.io/ or etcd_.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/managed-by', 'diva-client', 'diva-manager']) && !['opcrew.io/', 'etcd.opcrew.io/', 'redis.opcrew.io/', 'redis.io/', 'etcd_'].exists(p, k.startsWith(p)))",message="pod.labels: app.kubernetes.io/managed-by, diva-client, diva-manager and keys that begin with opcrew.io/, etcd.opcrew.io/, redis.opcrew.io/, redis.io/ or etcd_ are reserved, because opcrew selects pods by them; use other keys"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods. They cannot replace an annotation that the operator sets.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector lists the labels that a node must have to run the pods. Without it the pods may run on any node.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the pods: the node taints that do not keep the pods away.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity holds the rules that decide on which nodes, and next to which other pods, the pods may run.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints of the pods. If set, they replace the constraints by which the operator spreads the
	// pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName is the PriorityClass of the pods. Without it they get the default class of the cluster, if any.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// runtimeClassName is the RuntimeClass of the pods. The RuntimeClass of a NodePool has the name of the NodePool.
	// Without runtimeClassName the pods use the default runtime of their node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// serviceAccountName is the ServiceAccount of the pods, in the same namespace. Without it they use the
	// ServiceAccount default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// imagePullSecrets are Secrets with registry credentials for the pods' images.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}
