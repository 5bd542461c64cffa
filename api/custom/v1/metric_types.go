// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Metric is what autoscaling follows, written as in a HorizontalPodAutoscaler. Amounts are
// bounded here: reading one such as 1e999999999 would keep the operator busy for hours.
type Metric struct {
	// type tells which of the others is given.
	// +required
	// +kubebuilder:validation:Enum=Resource;ContainerResource;Pods;Object;External
	Type string `json:"type"`
	// resource is the use of cpu or memory by whole pods.
	// +optional
	Resource *ResourceMetric `json:"resource,omitempty"`
	// containerResource is the use of cpu or memory by one container; the application's is app.
	// +optional
	ContainerResource *ContainerResourceMetric `json:"containerResource,omitempty"`
	// pods is a metric that each pod has.
	// +optional
	Pods *PodsMetric `json:"pods,omitempty"`
	// object is a metric of another object of the namespace.
	// +optional
	Object *ObjectMetric `json:"object,omitempty"`
	// external is a metric from outside of the cluster.
	// +optional
	External *ExternalMetric `json:"external,omitempty"`
}

// ResourceMetric is the use of a resource by pods.
type ResourceMetric struct {
	// name of the resource.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// target is what is aimed at.
	// +required
	Target MetricTarget `json:"target"`
}

// ContainerResourceMetric is the use of a resource by a container.
type ContainerResourceMetric struct {
	// container is its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container"`
	// name of the resource.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// target is what is aimed at.
	// +required
	Target MetricTarget `json:"target"`
}

// PodsMetric is a metric that each pod has.
type PodsMetric struct {
	// metric by its name and selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target is what is aimed at.
	// +required
	Target MetricTarget `json:"target"`
}

// ObjectMetric is a metric of another object.
type ObjectMetric struct {
	// describedObject is the object.
	// +required
	DescribedObject MetricObject `json:"describedObject"`
	// metric by its name and selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target is what is aimed at.
	// +required
	Target MetricTarget `json:"target"`
}

// ExternalMetric is a metric from outside of the cluster.
type ExternalMetric struct {
	// metric by its name and selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target is what is aimed at.
	// +required
	Target MetricTarget `json:"target"`
}

// MetricIdentifier names a metric.
type MetricIdentifier struct {
	// name of the metric.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// selector narrows it down.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// MetricObject names an object of the same namespace.
type MetricObject struct {
	// apiVersion of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	APIVersion string `json:"apiVersion,omitempty"`
	// kind of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// MetricTarget is what is aimed at.
type MetricTarget struct {
	// type tells which of the others is given.
	// +required
	// +kubebuilder:validation:Enum=Utilization;Value;AverageValue
	Type string `json:"type"`
	// value of the metric.
	// +optional
	Value common.Amount `json:"value,omitempty"`
	// averageValue of the metric over all pods.
	// +optional
	AverageValue common.Amount `json:"averageValue,omitempty"`
	// averageUtilization is the use in percent of what the pods ask for.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	AverageUtilization *int32 `json:"averageUtilization,omitempty"`
}
