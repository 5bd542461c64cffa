// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

const (
	// minMemory is the minimum memory of a pod in bytes: for two servers and their replication.
	minMemory = 128 << 20
	// volumePerMemory is the ratio of a pod's volume size to its memory, as the vendor recommends. A server needs the
	// space because it writes a new append-only file while it keeps the old one.
	volumePerMemory = 5
)

// resources returns the resources of both servers of a pod together, or the vendor's defaults if the spec has none.
// notes list amounts that contain spaces, and the error names invalid amounts.
func resources(spec *redisv1alpha1.RedisEnterpriseClusterSpec) (out corev1.ResourceRequirements, notes []string, err error) {
	wanted := spec.RedisEnterpriseNodeResources
	if wanted == nil || len(wanted.Limits) == 0 && len(wanted.Requests) == 0 {
		all := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(redisv1alpha1.DefaultCPU), corev1.ResourceMemory: resource.MustParse(redisv1alpha1.DefaultMemory),
		}
		return corev1.ResourceRequirements{Limits: all, Requests: all}, nil, nil
	}
	limits, notes, err := quantities("limits", wanted.Limits)
	if err != nil {
		return out, nil, err
	}
	requests, more, err := quantities("requests", wanted.Requests)
	if err != nil {
		return out, nil, err
	}
	out = corev1.ResourceRequirements{Limits: limits, Requests: requests}
	return out, append(notes, more...), checkMemory(out)
}

func quantities(field string, amounts map[corev1.ResourceName]redisv1alpha1.Amount) (corev1.ResourceList, []string, error) {
	var notes []string
	out := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		amount := amounts[name]
		q, err := resource.ParseQuantity(amount.Normal())
		if err != nil {
			return nil, nil, fmt.Errorf("redisEnterpriseNodeResources.%s.%s: %q is not a quantity; use a quantity such as 400m or 4Gi", field, name, amount)
		}
		notes = append(notes, noteNormalized(fmt.Sprintf("redisEnterpriseNodeResources.%s.%s", field, name), amount)...)
		out[name] = q
	}
	if len(out) == 0 {
		return nil, nil, nil
	}
	return out, notes, nil
}

// noteNormalized returns a note for the status if an amount contains spaces, which opcrew ignores.
func noteNormalized(field string, amount redisv1alpha1.Amount) []string {
	if amount.Normal() == string(amount) {
		return nil
	}
	return []string{fmt.Sprintf("spec.%s: %q is read as %s", field, amount, amount.Normal())}
}

// checkMemory refuses a memory limit that is too low for the servers to start.
func checkMemory(r corev1.ResourceRequirements) error {
	limit, ok := r.Limits[corev1.ResourceMemory]
	if !ok || limit.Value() >= minMemory {
		return nil
	}
	return fmt.Errorf("redisEnterpriseNodeResources.limits.memory: %s is too little for a primary and a replica; set 128Mi or more", limit.String())
}

// half returns half of a pod's resources, for one of the pod's two servers.
func half(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Limits: halves(r.Limits), Requests: halves(r.Requests)}
}

func halves(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	out := corev1.ResourceList{}
	for name, q := range list {
		if name == corev1.ResourceCPU {
			out[name] = *resource.NewMilliQuantity(q.MilliValue()/2+q.MilliValue()%2, q.Format)
			continue
		}
		out[name] = *resource.NewQuantity(q.Value()/2, q.Format)
	}
	return out
}

// MemoryLimit returns the memory limit of a server in bytes; 0 if it has none. The agent lets the server use three
// quarters of this memory for data.
func MemoryLimit(server corev1.ResourceRequirements) int64 {
	limit := server.Limits[corev1.ResourceMemory]
	return limit.Value()
}

// volumeSize returns the requested size of a pod's volume.
func volumeSize(spec *redisv1alpha1.RedisEnterpriseClusterSpec, pod corev1.ResourceRequirements) resource.Quantity {
	if p := spec.PersistentSpec; p != nil && p.VolumeSize != "" {
		return p.VolumeSize.Quantity()
	}
	memory, ok := pod.Limits[corev1.ResourceMemory]
	if !ok {
		memory, ok = pod.Requests[corev1.ResourceMemory]
	}
	if !ok {
		memory = resource.MustParse(redisv1alpha1.DefaultMemory)
	}
	size := memory.DeepCopy()
	size.Mul(volumePerMemory)
	return size
}
