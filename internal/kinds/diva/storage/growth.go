// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// resizes are the patches that change the size of clients' claims, including clients that are gone: they would come
// back with too little.
func (in Input) resizes() []kit.Patch {
	var out []kit.Patch
	desired := Size(in.Diva.Spec.Client.Storage)
	for _, claim := range in.clientClaims() {
		requested := workload.Requested(claim)
		grows := workload.HasVolume(claim) && requested.Cmp(desired) < 0 && in.growable(claim)
		if in.patchable(claim) && (grows || in.takesBack(claim, desired)) {
			out = append(out, workload.Resize(claim, desired))
		}
	}
	return out
}

// managerSize is the size that a claim of the manager requests: the larger of what the spec asks for and what the claim
// has, as volumes do not shrink. A request that was not granted can be lowered again.
func (in Input) managerSize(s opsv1.Storage, claim *corev1.PersistentVolumeClaim) resource.Quantity {
	desired := Size(s)
	if claim == nil || in.takesBack(claim, desired) {
		return desired
	}
	if requested := workload.Requested(claim); requested.Cmp(desired) > 0 || !in.growable(claim) || !workload.HasVolume(claim) {
		return requested
	}
	return desired
}

// templateSize is how large claims of new clients are. It follows the spec only when all claims that exist have been
// resized: recreating the StatefulSet then changes nothing at its pods, and claims that cannot grow do not cause it.
// A lowered size is applied at once, as no further client could have the larger one.
func (in Input) templateSize() resource.Quantity {
	desired := Size(in.Diva.Spec.Client.Storage)
	if in.Template == nil {
		return desired
	}
	smaller := slices.ContainsFunc(in.clientClaims(), func(claim *corev1.PersistentVolumeClaim) bool {
		requested := workload.Requested(claim)
		return workload.HasVolume(claim) && requested.Cmp(desired) < 0
	})
	if smaller {
		return *in.Template
	}
	return desired
}

// growable reports whether the class of a claim lets volumes grow, as far as that is known.
func (in Input) growable(claim *corev1.PersistentVolumeClaim) bool {
	return in.Rigid[workload.ClassOf(claim)] == ""
}
