// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Annotations on a member's pod about its resources.
const (
	// ResourcesAnnotation holds, in JSON, the spec's resources for etcd's container that opcrew last recorded on the
	// pod.
	ResourcesAnnotation = "etcd.opcrew.io/resources"
	// ResizedAnnotation holds the hash of the settings for which opcrew resizes the pod.
	ResizedAnnotation = "etcd.opcrew.io/resized"
)

// ResizeDue reports whether a pod differs from the spec only in resources that Kubernetes can change while the pod
// runs.
func ResizeDue(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || c.Spec.Pod == nil {
		return false
	}
	was, said := requestedBy(pod), pod.Annotations[model.SettingsAnnotation]
	if said == Hash(c) || !InPlace(WithRequests(was), DesiredResources(c)) {
		return false
	}
	before := c.Spec.Pod.DeepCopy()
	before.Resources = was
	return said == hashWith(c, before) || said == hashWith(c, nil) && nothingAsked(before)
}

// nothingAsked reports whether a pod policy has no field whose change would recreate the pod. A user may have added
// spec.pod only to set resources.
func nothingAsked(policy *etcdv1beta2.PodPolicy) bool {
	return reflect.ValueOf(*withoutIgnored(policy)).IsZero()
}

// ResizeNoted reports whether opcrew has recorded new resources on a pod, but the pod's spec does not have them yet. It
// ignores resources that an admission webhook set when the pod was created.
func ResizeNoted(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && c.Spec.Pod != nil &&
		pod.Annotations[ResizedAnnotation] == Hash(c) && !declares(pod, DesiredResources(c))
}

// requestedBy returns the resources for etcd's container that opcrew last recorded on the pod.
func requestedBy(pod *corev1.Pod) corev1.ResourceRequirements {
	var out corev1.ResourceRequirements
	if err := json.Unmarshal([]byte(pod.Annotations[ResourcesAnnotation]), &out); err != nil {
		return corev1.ResourceRequirements{} // nothing is recorded, or a user has changed the annotation
	}
	return out
}

// DesiredResources returns the spec's resources for etcd's container, with the defaults that the API server adds.
func DesiredResources(c *etcdv1beta2.EtcdCluster) corev1.ResourceRequirements {
	return WithRequests(c.Spec.Pod.Resources)
}

// WithRequests returns resources with the requests that the API server adds if only a limit is set.
func WithRequests(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	requests := maps.Clone(r.Limits)
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	maps.Copy(requests, r.Requests)
	return corev1.ResourceRequirements{Limits: r.Limits, Requests: requests, Claims: r.Claims}
}

// InPlace reports whether resources can be changed in a running pod. Kubernetes can change only CPU and memory, and
// cannot remove either.
func InPlace(from, to corev1.ResourceRequirements) bool {
	return equality.Semantic.DeepEqual(from.Claims, to.Claims) && changeable(from.Limits, to.Limits) && changeable(from.Requests, to.Requests)
}

func changeable(from, to corev1.ResourceList) bool {
	for name := range from {
		if _, stays := to[name]; !stays {
			return false
		}
	}
	for name, quantity := range to {
		if was, there := from[name]; there && was.Equal(quantity) {
			continue
		}
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			return false
		}
	}
	return true
}

// declares reports whether the pod's spec has these resources for etcd's container.
func declares(pod *corev1.Pod, want corev1.ResourceRequirements) bool {
	same := func(has, want corev1.ResourceList) bool {
		for name, quantity := range want {
			if is, there := has[name]; !there || !is.Equal(quantity) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == model.Container && same(c.Resources.Limits, want.Limits) && same(c.Resources.Requests, want.Requests)
	})
}

// PendingResize explains which resize a kubelet has not finished; empty if none is pending. works is true if the
// kubelet is working on the resize.
func PendingResize(pod *corev1.Pod) (words string, works bool) {
	if pod == nil {
		return "", false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case corev1.PodResizePending:
			return cmp.Or(condition.Message, condition.Reason, "the node has no room for the new resources"), false
		case corev1.PodResizeInProgress:
			return cmp.Or(condition.Message, condition.Reason, "the kubelet is resizing the pod"), true
		}
	}
	return "", false
}

// EncodeJSON returns a value as JSON. It panics if the value cannot be encoded.
func EncodeJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // cannot happen with plain data
		panic(fmt.Errorf("encode: %w", err))
	}
	return string(text)
}
