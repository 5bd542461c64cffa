// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Metric is what autoscaling follows, as in a HorizontalPodAutoscaler. Amounts are bounded
// here: parsing one such as 1e999999999 would keep the operator busy for hours.
type Metric struct {
	// type selects which of the other fields is set.
	// +required
	// +kubebuilder:validation:Enum=Resource;ContainerResource;Pods;Object;External
	Type string `json:"type"`
	// resource is the use of cpu or memory by whole pods.
	// +optional
	Resource *ResourceMetric `json:"resource,omitempty"`
	// containerResource is the use of cpu or memory by one container; the container of the application is app.
	// +optional
	ContainerResource *ContainerResourceMetric `json:"containerResource,omitempty"`
	// pods is a metric of each pod.
	// +optional
	Pods *PodsMetric `json:"pods,omitempty"`
	// object is a metric of another object of the namespace.
	// +optional
	Object *ObjectMetric `json:"object,omitempty"`
	// external is a metric from outside the cluster.
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
	// target value of the metric.
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
	// target value of the metric.
	// +required
	Target MetricTarget `json:"target"`
}

// PodsMetric is a metric of each pod.
type PodsMetric struct {
	// metric by its name and selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target value of the metric.
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
	// target value of the metric.
	// +required
	Target MetricTarget `json:"target"`
}

// ExternalMetric is a metric from outside the cluster.
type ExternalMetric struct {
	// metric by its name and selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target value of the metric.
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

// MetricTarget is the target value of a metric.
type MetricTarget struct {
	// type selects which of the other fields is set.
	// +required
	// +kubebuilder:validation:Enum=Utilization;Value;AverageValue
	Type string `json:"type"`
	// value of the metric.
	// +optional
	Value common.Amount `json:"value,omitempty"`
	// averageValue of the metric over all pods.
	// +optional
	AverageValue common.Amount `json:"averageValue,omitempty"`
	// averageUtilization is the use in percent of the pods' requests.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	AverageUtilization *int32 `json:"averageUtilization,omitempty"`
}
