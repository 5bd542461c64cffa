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

// Need returns the most that an instance may use: its pods and the surge pods of a rollout, each as large as the larger
// of the running and the desired pod.
func Need(m *customv1.MicroServiceDeploy, live *appsv1.Deployment, o Overheads) Amounts {
	pods, pod, going := scaling.MostPods(m), o.with(perPod(m), RuntimeClass(m)), int32(0)
	if live != nil {
		there := *cmp.Or(live.Spec.Replicas, new(int32))
		pods = max(pods, there)
		if pods > 0 {
			pod = larger(pod, o.with(perPodOf(live.Spec.Template.Spec), ptr.Deref(live.Spec.Template.Spec.RuntimeClassName, "")))
		}
		if rolls(m, live) {
			going = there // a quota counts pods until they have ended
		}
	}
	if pods == 0 {
		return Amounts{}
	}
	return times(pod, pods+surge(pods)+going)
}

// rolls reports whether pods are to be replaced, or are being replaced. If the configuration is the user's own Secret,
// a rollout may begin at any time.
func rolls(m *customv1.MicroServiceDeploy, live *appsv1.Deployment) bool {
	can := m.Spec.RollbackTo != nil || workload.InvalidImage(m.Spec.Image) == ""
	return live.Status.Replicas > live.Status.UpdatedReplicas ||
		can && (m.Spec.ConfigFrom != nil || !ensure.Pin{Key: build.Settings(m, "")}.Matches(live))
}

// surge returns how many surge pods a rollout has: a quarter of the pods, rounded up.
func surge(pods int32) int32 { return (pods + 3) / 4 }

// perPod returns what one pod of the spec requests. It leaves out resources that not all of its containers request, as
// a quota for these would refuse the pod.
func perPod(m *customv1.MicroServiceDeploy) Amounts {
	requests, limits := workload.Quantities(m.Spec.ResourceRequirements.Requests), workload.Quantities(m.Spec.ResourceRequirements.Limits)
	total := asked(requests, limits)
	if m.Spec.NeedAuth {
		total = both(total, asked(auth.ProxyResources, auth.ProxyLimits))
	}
	total[corev1.ResourcePods] = resource.MustParse("1")
	return total
}

// Overheads has, by RuntimeClass, what a pod costs in addition to its containers. Quotas count it (KEP-688).
type Overheads map[string]corev1.ResourceList

// with returns what a pod of a class costs.
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

// RuntimeClass returns the class of the pods, whose overhead counts in a quota; empty if the spec sets none.
func RuntimeClass(m *customv1.MicroServiceDeploy) string {
	if m.Spec.Pod == nil {
		return ""
	}
	return m.Spec.Pod.RuntimeClassName
}

// perPodOf returns what a running pod requests.
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
