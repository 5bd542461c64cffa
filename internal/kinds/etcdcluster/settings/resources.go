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

// Annotations of a member's pod about its resources.
const (
	// ResourcesAnnotation holds, in JSON, the resources that the spec had for etcd's container when they were last
	// recorded.
	ResourcesAnnotation = "etcd.opcrew.io/resources"
	// ResizedAnnotation holds the hash of the settings for which the pod gets other resources than it was created with.
	ResizedAnnotation = "etcd.opcrew.io/resized"
)

// ResizeDue reports whether a pod differs from the spec only in resources, and these can be changed while it runs.
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

// nothingAsked reports whether a policy sets nothing for which pods are recreated. The user may have added it only for
// the resources.
func nothingAsked(policy *etcdv1beta2.PodPolicy) bool {
	return reflect.ValueOf(*withoutIgnored(policy)).IsZero()
}

// ResizeNoted reports whether new resources are recorded on a pod, but its spec does not have them yet. Resources that
// another controller set when the pod was created are left alone.
func ResizeNoted(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && c.Spec.Pod != nil &&
		pod.Annotations[ResizedAnnotation] == Hash(c) && !declares(pod, DesiredResources(c))
}

// requestedBy returns the resources in the spec for etcd's container when they were last recorded on the pod.
func requestedBy(pod *corev1.Pod) corev1.ResourceRequirements {
	var out corev1.ResourceRequirements
	if err := json.Unmarshal([]byte(pod.Annotations[ResourcesAnnotation]), &out); err != nil {
		return corev1.ResourceRequirements{} // nothing was recorded, or someone has changed the annotation
	}
	return out
}

// DesiredResources returns the resources of etcd's container, as the API server completes them.
func DesiredResources(c *etcdv1beta2.EtcdCluster) corev1.ResourceRequirements {
	return WithRequests(c.Spec.Pod.Resources)
}

// WithRequests adds the requests that the API server adds if only a limit is set.
func WithRequests(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	requests := maps.Clone(r.Limits)
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	maps.Copy(requests, r.Requests)
	return corev1.ResourceRequirements{Limits: r.Limits, Requests: requests, Claims: r.Claims}
}

// InPlace reports whether resources can be changed in a running pod. Only CPU and memory can, and neither can be
// removed.
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

// declares reports whether the spec of etcd's container has these resources.
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

// PendingResize explains which resize a kubelet has not finished, and reports whether the kubelet is working on it.
// Empty if none is pending.
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

// EncodeJSON encodes a value of a type that can always be encoded.
func EncodeJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // cannot happen with plain data
		panic(fmt.Errorf("encode: %w", err))
	}
	return string(text)
}
