// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quota computes the resources that all MicroServiceDeploys of a namespace may use together, and the
// ResourceQuotas that limit them. It makes no API calls.
package quota

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Amounts maps resource names, as in a ResourceQuota, to quantities.
type Amounts = corev1.ResourceList

// asked returns requests and limits under the names that a ResourceQuota uses. If a request is missing, it equals the
// limit, as in the API server.
func asked(requests, limits corev1.ResourceList) Amounts {
	out := Amounts{}
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

// both returns the sums of the resources that occur in both a and b. It leaves out all other resources.
func both(a, b Amounts) Amounts {
	out := Amounts{}
	for name, q := range a {
		if other, ok := b[name]; ok {
			sum := q.DeepCopy()
			sum.Add(other)
			out[name] = sum
		}
	}
	return out
}

// larger returns the maximum of each resource that occurs in both a and b. It leaves out all other resources, so that
// no quota limits them.
func larger(a, b Amounts) Amounts {
	out := Amounts{}
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

func times(a Amounts, n int32) Amounts {
	out := Amounts{}
	for name, q := range a {
		product := q.DeepCopy()
		product.Mul(int64(n))
		out[name] = product
	}
	return out
}

// sum returns the resources that all MicroServiceDeploys of a namespace may use together. It leaves out a resource if
// at least one MicroServiceDeploy with pods does not request it.
func sum(needs []Amounts) Amounts {
	var total Amounts
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

// short describes the first resource of which too little is available; "" if everything fits.
func short(wanted, there Amounts) string {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		q, ok := wanted[name]
		if free := there[name]; ok && q.Cmp(free) > 0 {
			return fmt.Sprintf("%s %s, %s free", q.String(), name, free.String())
		}
	}
	return ""
}

// covers reports whether a quota allows the wanted amounts: each limit is high enough, and the quota limits no resource
// for which a pod has no request.
func covers(hard, wanted Amounts) bool {
	for name, most := range hard {
		if q, ok := wanted[name]; !ok || q.Cmp(most) > 0 {
			return false
		}
	}
	return true
}

// free returns the unused amounts of a quota.
func free(q *corev1.ResourceQuota) Amounts {
	out := Amounts{}
	for name, hard := range q.Status.Hard {
		left := hard.DeepCopy()
		left.Sub(q.Status.Used[name])
		out[shortName(name)] = left
	}
	return out
}

// shortName returns requests.cpu for cpu, and requests.memory for memory. In a quota, both names mean the same limit.
func shortName(name corev1.ResourceName) corev1.ResourceName {
	if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
		return "requests." + name
	}
	return name
}
