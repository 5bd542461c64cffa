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

// resizes returns the patches that change the size of client pods' claims. Claims of removed client pods are resized
// too, because they are used again when these pods are added again.
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

// managerSize returns the size that a claim of the manager pods should request. Volumes cannot shrink, so this is the
// larger of the spec's size and the claim's size. A request that the volume never reached can be lowered again.
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

// templateSize returns the size of new client pods' claims. To change it, opcrew must recreate the StatefulSet, whose
// pods keep running. Therefore a larger size applies only after the claims of these pods have been resized. A smaller
// size applies at once.
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

// growable reports whether the StorageClass of a claim allows volumes to grow. An unknown class counts as growable.
func (in Input) growable(claim *corev1.PersistentVolumeClaim) bool {
	return in.Rigid[workload.ClassOf(claim)] == ""
}
