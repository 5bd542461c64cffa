// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// amounts are quantities by the names that a ResourceQuota uses.
type amounts = corev1.ResourceList

// need is the most that an instance may use: its pods, and those that a rollout has
// beside, each as large as the larger of what runs and what is wanted.
func need(m *customv1.MicroServiceDeploy, live *appsv1.Deployment, o overheads) amounts {
	pods, pod, going := mostPods(m), o.with(perPod(m), runtimeClass(m)), int32(0)
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
		return amounts{}
	}
	return times(pod, pods+surge(pods)+going)
}

// rolls reports whether pods are to be replaced, or are being replaced. One whose
// configuration is the user's own Secret may begin at any time.
func rolls(m *customv1.MicroServiceDeploy, live *appsv1.Deployment) bool {
	can := m.Spec.RollbackTo != nil || workload.InvalidImage(m.Spec.Image) == ""
	return live.Status.Replicas > live.Status.UpdatedReplicas ||
		can && (m.Spec.ConfigFrom != nil || !ensure.Pinned(live, wishes(m, facts{})))
}

func mostPods(m *customv1.MicroServiceDeploy) int32 {
	switch {
	case m.Spec.Idle:
		return 0
	case autoscales(m):
		return max(maxReplicas(m), replicas(m))
	}
	return replicas(m)
}

// surge is how many pods a rollout has beside those: a quarter, rounded up.
func surge(pods int32) int32 { return (pods + 3) / 4 }

// perPod is what one pod of the spec asks for. What not all of its containers ask for is
// not bounded: a quota of it would refuse the pod.
func perPod(m *customv1.MicroServiceDeploy) amounts {
	requests, limits := workload.Quantities(m.Spec.ResourceRequirements.Requests), workload.Quantities(m.Spec.ResourceRequirements.Limits)
	total := asked(requests, limits)
	if m.Spec.NeedAuth {
		total = both(total, asked(proxyResources, proxyLimits))
	}
	total[corev1.ResourcePods] = resource.MustParse("1")
	return total
}

// overheads are what pods of RuntimeClasses cost beside their containers, which quotas
// count (KEP-688).
type overheads map[string]corev1.ResourceList

// with gives what a pod of a class costs.
func (o overheads) with(pod amounts, class string) amounts {
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

func runtimeClass(m *customv1.MicroServiceDeploy) string {
	if m.Spec.Pod == nil {
		return ""
	}
	return m.Spec.Pod.RuntimeClassName
}

// perPodOf is what one pod that runs asks for.
func perPodOf(spec corev1.PodSpec) amounts {
	var total amounts
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
		total = amounts{}
	}
	total[corev1.ResourcePods] = resource.MustParse("1")
	return total
}

// asked gives requests and limits the names of a quota; requests that are missing are the
// limits, as the API server has it.
func asked(requests, limits corev1.ResourceList) amounts {
	out := amounts{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := limits[name]; ok {
			out["limits."+name], out["requests."+name] = q, q
		}
		if q, ok := requests[name]; ok {
			out["requests."+name] = q
		}
	}
	return out
}

// both adds what two have in common.
func both(a, b amounts) amounts {
	out := amounts{}
	for name, q := range a {
		if other, ok := b[name]; ok {
			sum := q.DeepCopy()
			sum.Add(other)
			out[name] = sum
		}
	}
	return out
}

// larger takes the larger of each amount; what only one of them has is not bounded.
func larger(a, b amounts) amounts {
	out := amounts{}
	for name, q := range a {
		if other, ok := b[name]; ok {
			out[name] = q
			if q.Cmp(other) < 0 {
				out[name] = other
			}
		}
	}
	return out
}

func times(a amounts, n int32) amounts {
	out := amounts{}
	for name, q := range a {
		product := q.DeepCopy()
		product.Mul(int64(n))
		out[name] = product
	}
	return out
}

// sum is what all instances of a namespace may use together, of the resources that each
// of them that has pods asks for.
func sum(needs []amounts) amounts {
	var total amounts
	for _, n := range needs {
		switch {
		case len(n) == 0:
		case total == nil:
			total = maps.Clone(n)
		default:
			total = both(total, n)
		}
	}
	return total
}

// short names the first amount that exceeds what there is, in words.
func short(wanted, there amounts) string {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		q, ok := wanted[name]
		if free := there[name]; ok && q.Cmp(free) > 0 {
			return fmt.Sprintf("%s %s, %s free", q.String(), name, free.String())
		}
	}
	return ""
}

// covers reports whether a quota admits what is wanted: it bounds nothing that some pod does
// not ask for, and each amount is high enough.
func covers(hard, wanted amounts) bool {
	for name, most := range hard {
		if q, ok := wanted[name]; !ok || q.Cmp(most) > 0 {
			return false
		}
	}
	return true
}

// free is what a quota has left.
func free(q *corev1.ResourceQuota) amounts {
	out := amounts{}
	for name, hard := range q.Status.Hard {
		left := hard.DeepCopy()
		left.Sub(q.Status.Used[name])
		out[shortName(name)] = left
	}
	return out
}

// shortName gives the amounts that a quota may call in two ways one name.
func shortName(name corev1.ResourceName) corev1.ResourceName {
	if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
		return "requests." + name
	}
	return name
}
