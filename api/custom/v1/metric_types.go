// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Metric is a metric that the autoscaler follows, as in a HorizontalPodAutoscaler. Its amounts have type common.Amount,
// because the operator would be busy for hours if it parsed an amount such as 1e999999999.
type Metric struct {
	// type of the metric, which selects the field to set: Resource, ContainerResource, Pods, Object or External.
	// +required
	// +kubebuilder:validation:Enum=Resource;ContainerResource;Pods;Object;External
	Type string `json:"type"`
	// resource is the use of a resource, such as cpu or memory, by whole pods.
	// +optional
	Resource *ResourceMetric `json:"resource,omitempty"`
	// containerResource is the use of a resource, such as cpu or memory, by one container of each pod. The name of the
	// application's container is app.
	// +optional
	ContainerResource *ContainerResourceMetric `json:"containerResource,omitempty"`
	// pods is a metric that describes each pod. The autoscaler uses its average over the pods.
	// +optional
	Pods *PodsMetric `json:"pods,omitempty"`
	// object is a metric that describes another object in the same namespace.
	// +optional
	Object *ObjectMetric `json:"object,omitempty"`
	// external is a metric that does not belong to a Kubernetes object, such as the length of a message queue.
	// +optional
	External *ExternalMetric `json:"external,omitempty"`
}

// ResourceMetric is the use of a resource, such as cpu or memory, by whole pods.
type ResourceMetric struct {
	// name of the resource, such as cpu or memory.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// target is the value at which the autoscaler keeps the metric.
	// +required
	Target MetricTarget `json:"target"`
}

// ContainerResourceMetric is the use of a resource, such as cpu or memory, by one container of each pod.
type ContainerResourceMetric struct {
	// container is the name of the container in the pods. The application's container is app.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container"`
	// name of the resource, such as cpu or memory.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// target is the value at which the autoscaler keeps the metric.
	// +required
	Target MetricTarget `json:"target"`
}

// PodsMetric is a metric that describes each pod.
type PodsMetric struct {
	// metric identifies the metric by name and label selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target is the value at which the autoscaler keeps the metric.
	// +required
	Target MetricTarget `json:"target"`
}

// ObjectMetric is a metric that describes another object in the same namespace.
type ObjectMetric struct {
	// describedObject is the object that the metric describes.
	// +required
	DescribedObject MetricObject `json:"describedObject"`
	// metric identifies the metric by name and label selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target is the value at which the autoscaler keeps the metric.
	// +required
	Target MetricTarget `json:"target"`
}

// ExternalMetric is a metric that does not belong to a Kubernetes object.
type ExternalMetric struct {
	// metric identifies the metric by name and label selector.
	// +required
	Metric MetricIdentifier `json:"metric"`
	// target is the value at which the autoscaler keeps the metric.
	// +required
	Target MetricTarget `json:"target"`
}

// MetricIdentifier identifies a metric by name and label selector.
type MetricIdentifier struct {
	// name of the metric.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// selector selects the time series of the metric by their labels. Without it all series of that name count.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// MetricObject names an object in the same namespace.
type MetricObject struct {
	// apiVersion of the object, such as apps/v1.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	APIVersion string `json:"apiVersion,omitempty"`
	// kind of the object, such as Service.
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

// MetricTarget is the value at which the autoscaler keeps a metric.
type MetricTarget struct {
	// type of the target, which selects the field to set: Utilization for averageUtilization, Value, or AverageValue.
	// +required
	// +kubebuilder:validation:Enum=Utilization;Value;AverageValue
	Type string `json:"type"`
	// value at which the autoscaler keeps the metric as a whole.
	// +optional
	Value common.Amount `json:"value,omitempty"`
	// averageValue is the value at which the autoscaler keeps the metric divided by the number of pods.
	// +optional
	AverageValue common.Amount `json:"averageValue,omitempty"`
	// averageUtilization is the target for the average use of all pods, in percent of what the pods request; 1 to
	// 100000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	AverageUtilization *int32 `json:"averageUtilization,omitempty"`
}
