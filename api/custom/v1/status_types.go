// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MicroServiceDeployStatus is the observed state of an instance.
type MicroServiceDeployStatus struct {
	// replicas is the desired number of pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of ready pods.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector is the label selector of the pods, which the scale subresource needs.
	// +optional
	Selector string `json:"selector,omitempty"`

	// url is the address of the instance for clients outside the cluster. It is empty if the instance has no host name.
	// +optional
	URL string `json:"url,omitempty"`

	// hosts are the host names that the instance serves.
	// +optional
	// +listType=atomic
	Hosts []string `json:"hosts,omitempty"`

	// revision is the number of the revision that the pods run, or to which they are being rolled out.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// revisions are the revisions that spec.rollbackTo can name, the newest first.
	// +optional
	// +listType=atomic
	Revisions []Revision `json:"revisions,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the instance; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Revision is an image together with its configuration.
type Revision struct {
	// revision is the number of this revision.
	// +required
	Revision int64 `json:"revision"`
	// image of this revision.
	// +required
	Image string `json:"image"`
	// config is the name of the ConfigMap or Secret with the configuration of this revision; empty if the revision has
	// none.
	// +optional
	Config string `json:"config,omitempty"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (m *MicroServiceDeploy) StatusConditions() *[]metav1.Condition { return &m.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (m *MicroServiceDeploy) StatusObservedGeneration() *int64 { return &m.Status.ObservedGeneration }
