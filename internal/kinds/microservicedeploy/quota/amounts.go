// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quota computes what the instances of a namespace may use together, and the ResourceQuotas that bound it. It
// reads and writes nothing.
package quota

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Amounts are quantities by the names that a ResourceQuota uses.
type Amounts = corev1.ResourceList

// asked gives requests and limits the names of a quota; requests that are missing are the
// limits, as the API server has it.
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

// both adds what two have in common.
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

// larger takes the larger of each amount; what only one of them has is not bounded.
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

// sum is what all instances of a namespace may use together, of the resources that each
// of them that has pods asks for.
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

// short names the first amount that exceeds what there is, in words.
func short(wanted, there Amounts) string {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		q, ok := wanted[name]
		if free := there[name]; ok && q.Cmp(free) > 0 {
			return fmt.Sprintf("%s %s, %s free", q.String(), name, free.String())
		}
	}
	return ""
}

// covers reports whether a quota admits the desired amounts: it limits nothing that some pod does
// not ask for, and each amount is high enough.
func covers(hard, wanted Amounts) bool {
	for name, most := range hard {
		if q, ok := wanted[name]; !ok || q.Cmp(most) > 0 {
			return false
		}
	}
	return true
}

// free is what a quota has left.
func free(q *corev1.ResourceQuota) Amounts {
	out := Amounts{}
	for name, hard := range q.Status.Hard {
		left := hard.DeepCopy()
		left.Sub(q.Status.Used[name])
		out[shortName(name)] = left
	}
	return out
}

// shortName gives the Amounts that a quota may call in two ways one name.
func shortName(name corev1.ResourceName) corev1.ResourceName {
	if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
		return "requests." + name
	}
	return name
}
