// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// Need returns the maximum amounts that a MicroServiceDeploy may use: for its pods and for the surge pods of a rollout.
// For each pod, Need takes the resources of the running pod or of the desired pod, whichever are larger.
func Need(m *customv1.MicroServiceDeploy, live *appsv1.Deployment, o Overheads) Amounts {
	pods, pod, going := scaling.MostPods(m), o.with(perPod(m), RuntimeClass(m)), int32(0)
	if live != nil {
		there := *cmp.Or(live.Spec.Replicas, new(int32))
		pods = max(pods, there)
		if pods > 0 {
			pod = larger(pod, o.with(perPodOf(live.Spec.Template.Spec), ptr.Deref(live.Spec.Template.Spec.RuntimeClassName, "")))
		}
		if rolls(m, live) {
			going = there // a quota counts old pods until they have ended
		}
	}
	if pods == 0 {
		return Amounts{}
	}
	return times(pod, pods+surge(pods)+going)
}

// rolls reports whether pods are being replaced or will be replaced. If the configuration is a Secret of the user, a
// rollout may start at any time.
func rolls(m *customv1.MicroServiceDeploy, live *appsv1.Deployment) bool {
	can := m.Spec.RollbackTo != nil || workload.InvalidImage(m.Spec.Image) == ""
	return live.Status.Replicas > live.Status.UpdatedReplicas ||
		can && (m.Spec.ConfigFrom != nil || !ensure.Pin{Key: build.Settings(m, "")}.Matches(live))
}

// surge returns the number of surge pods of a rollout: a quarter of the pods, rounded up.
func surge(pods int32) int32 { return (pods + 3) / 4 }

// perPod returns the resources of one pod that the spec describes. It leaves out resources that not all containers
// request, because a quota that limits such a resource would reject the pod.
func perPod(m *customv1.MicroServiceDeploy) Amounts {
	requests, limits := workload.Quantities(m.Spec.ResourceRequirements.Requests), workload.Quantities(m.Spec.ResourceRequirements.Limits)
	total := asked(requests, limits)
	if m.Spec.NeedAuth {
		total = both(total, asked(auth.ProxyResources, auth.ProxyLimits))
	}
	total[corev1.ResourcePods] = resource.MustParse("1")
	return total
}

// Overheads maps RuntimeClasses to the resources that a pod uses in addition to its containers. Quotas count them
// (KEP-688).
type Overheads map[string]corev1.ResourceList

// with adds the overhead of a RuntimeClass to the resources of a pod.
func (o Overheads) with(pod Amounts, class string) Amounts {
	out := maps.Clone(pod)
	for name, q := range o[class] {
		for _, counted := range []corev1.ResourceName{"requests." + name, "limits." + name} {
			if there, ok := pod[counted]; ok {
				cost := there.DeepCopy()
				cost.Add(q)
				out[counted] = cost
			}
		}
	}
	return out
}

// RuntimeClass returns the RuntimeClass of the pods, whose overhead counts in a quota; empty if the spec sets none.
func RuntimeClass(m *customv1.MicroServiceDeploy) string {
	if m.Spec.Pod == nil {
		return ""
	}
	return m.Spec.Pod.RuntimeClassName
}

// perPodOf returns the resources of a running pod.
func perPodOf(spec corev1.PodSpec) Amounts {
	var total Amounts
	containers := slices.Clone(spec.Containers)
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			containers = append(containers, c)
		}
	}
	for i, c := range containers {
		one := asked(c.Resources.Requests, c.Resources.Limits)
		if i == 0 {
			total = one
		} else {
			total = both(total, one)
		}
	}
	if total == nil {
		total = Amounts{}
	}
	total[corev1.ResourcePods] = resource.MustParse("1")
	return total
}
