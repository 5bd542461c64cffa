// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"encoding/json"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// resourcesAnnotation is what the user asked etcd's container to have, in JSON, when the pod was made
// or resized last.
const resourcesAnnotation = "etcd.opcrew.io/resources"

// resize has the next member given the resources that the spec says, while it runs (KEP-1287): it
// costs no restart, and a member in an emptyDir needs no successor. It holds up nothing else.
func (f facts) resize(_ *etcdv1beta2.EtcdCluster, d *decision) bool {
	for i, m := range d.members {
		switch {
		case !m.resizes:
			continue
		case m.patched: // the cache is about to show what came of it
		case underResize(m.pod) != "":
			d.waits = "the node of " + m.name + " to give it its resources: " + underResize(m.pod)
		default:
			d.resize = &d.members[i]
		}
		return true
	}
	return false
}

// resizable tells whether a pod differs from the spec in resources alone, and they can be changed while
// it runs.
func (f facts) resizable(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || c.Spec.Pod == nil || f.unresizable[pod.UID] == wishes(c) || infeasible(pod) {
		return false
	}
	was, said := askedOf(pod), pod.Annotations[wishesAnnotation]
	if said == wishes(c) || !inPlace(complete(was), desired(c)) {
		return false
	}
	before := c.Spec.Pod.DeepCopy()
	before.Resources = was
	if said == wishesOf(c, before) {
		return true
	}
	return reflect.ValueOf(*before).IsZero() && said == wishesOf(c, nil)
}

// askedOf is what the user asked etcd's container in a pod to have.
func askedOf(pod *corev1.Pod) corev1.ResourceRequirements {
	var out corev1.ResourceRequirements
	if err := json.Unmarshal([]byte(pod.Annotations[resourcesAnnotation]), &out); err != nil {
		return corev1.ResourceRequirements{} // nothing was, or somebody has changed the annotation
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

// inPlace tells whether one can become the other in a pod that runs: only processor time and memory
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

// underResize explains what a kubelet has not carried out yet; it is empty while it owes nothing.
func underResize(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		resizes := condition.Type == corev1.PodResizePending || condition.Type == corev1.PodResizeInProgress
		if resizes && condition.Status == corev1.ConditionTrue {
			if condition.Message == "" {
				return "it is at it"
			}
			return condition.Message
		}
	}
	return ""
}

// infeasible tells of a pod that its node can never give what is asked for.
func infeasible(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodResizePending && condition.Reason == corev1.PodReasonInfeasible {
			return true
		}
	}
	return false
}
