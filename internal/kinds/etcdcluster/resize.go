// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

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
	"github.com/opcrew/opcrew/internal/kit"
)

// Annotations of a member's pod about its resources.
const (
	// resourcesAnnotation is what the user asked etcd's container to have, in JSON, when that was noted last.
	resourcesAnnotation = "etcd.opcrew.io/resources"
	// resizedAnnotation is the hash of the settings for which it is given other resources than it was made with.
	resizedAnnotation = "etcd.opcrew.io/resized"
)

// resize has the next member given the resources that the spec says, while it runs (KEP-1287): it
// costs no restart, and a member in an emptyDir needs no successor. First it is noted what the pod is to
// have, then it is asked for, so that anyone who comes next knows what was. A kubelet that is at it is waited
// for, and one that has no room is not: its member runs on as it is.
func (f facts) resize(_ *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil {
		return false
	}
	for i, m := range d.members {
		if m.renotes || m.resizes {
			if !m.patched { // else the cache is about to show what came of it
				d.resize = &d.members[i]
			}
			return true
		}
		words, works := underResize(m.pod)
		if words != "" && (works || d.waits == "") {
			d.waits = "the node of " + m.name + " to give it its resources: " + words
		}
		if works {
			return true
		}
	}
	return d.waits != ""
}

// resizeBroken does so for a member whose etcd does not run, maybe for lack of memory. It is not made
// again for that without a claim, and holds up nothing.
func (f facts) resizeBroken(c *etcdv1beta2.EtcdCluster, d *decision) {
	for i, m := range d.members {
		due := m.resizes || m.renotes && !persistent(c)
		if due && d.invalid == nil && !m.healthy && !m.patched && m.lost == "" && broken(m.pod) {
			d.resize = &d.members[i]
			return
		}
	}
}

// renotes reports whether a pod differs from the spec in resources alone, and they can be changed while
// it runs.
func renotes(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || c.Spec.Pod == nil {
		return false
	}
	was, said := askedOf(pod), pod.Annotations[wishesAnnotation]
	if said == wishes(c) || !inPlace(complete(was), desired(c)) {
		return false
	}
	before := c.Spec.Pod.DeepCopy()
	before.Resources = was
	return said == wishesOf(c, before) || said == wishesOf(c, nil) && nothingAsked(before)
}

// nothingAsked reports whether a policy asks for nothing that pods would be recreated for: it may have
// come with the resources.
func nothingAsked(policy *etcdv1beta2.PodPolicy) bool {
	return reflect.ValueOf(*ofPods(policy)).IsZero()
}

// resizes reports whether it was noted what a pod is to have, and the pod is not declared to have it.
// What someone else has it have from the start is left alone.
func resizes(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && c.Spec.Pod != nil &&
		pod.Annotations[resizedAnnotation] == wishes(c) && !gives(pod, desired(c))
}

// notePatch notes what a pod is to have from now on.
func notePatch(c *etcdv1beta2.EtcdCluster, m member) kit.Patch {
	change := podChange{pod: m.pod, intent: wishes(c)}
	change.annotate(wishesAnnotation, wishes(c))
	change.annotate(resizedAnnotation, wishes(c))
	change.annotate(resourcesAnnotation, encoded(c.Spec.Pod.Resources))
	return change.patch()
}

// askedOf is what the user asked etcd's container in a pod to have.
func askedOf(pod *corev1.Pod) corev1.ResourceRequirements {
	var out corev1.ResourceRequirements
	if err := json.Unmarshal([]byte(pod.Annotations[resourcesAnnotation]), &out); err != nil {
		return corev1.ResourceRequirements{} // nothing was, or someone has changed the annotation
	}
	return out
}

// desired is what etcd's container is to have, as the API server has it.
func desired(c *etcdv1beta2.EtcdCluster) corev1.ResourceRequirements {
	return complete(c.Spec.Pod.Resources)
}

// complete has requests for what only a limit is given for: the API server does so when a pod is made.
func complete(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	requests := maps.Clone(r.Limits)
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	maps.Copy(requests, r.Requests)
	return corev1.ResourceRequirements{Limits: r.Limits, Requests: requests, Claims: r.Claims}
}

// inPlace reports whether one can become the other in a pod that runs: only processor time and memory
// can, and neither may be taken away.
func inPlace(from, to corev1.ResourceRequirements) bool {
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

// gives reports whether etcd's container is declared to have that much.
func gives(pod *corev1.Pod, want corev1.ResourceRequirements) bool {
	same := func(has, want corev1.ResourceList) bool {
		for name, quantity := range want {
			if is, there := has[name]; !there || !is.Equal(quantity) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == container && same(c.Resources.Limits, want.Limits) && same(c.Resources.Requests, want.Requests)
	})
}

// underResize explains what a kubelet has not carried out yet, and whether it is at it; it is empty
// while it owes nothing.
func underResize(pod *corev1.Pod) (words string, works bool) {
	if pod == nil {
		return "", false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case corev1.PodResizePending:
			return cmp.Or(condition.Message, condition.Reason, "it has no room for them"), false
		case corev1.PodResizeInProgress:
			return cmp.Or(condition.Message, condition.Reason, "it is at it"), true
		}
	}
	return "", false
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // plain data
		panic(fmt.Errorf("encode: %w", err))
	}
	return string(text)
}
