// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// claim returns a claim of the manager pods. If an earlier Diva left the claim behind, its immutable fields stay
// unchanged, and the condition StorageReady reports the difference.
func (in Input) claim(name string, s opsv1.Storage) ensure.Child {
	live := in.Claims[name]
	spec := claimSpec(s, in.managerSize(s, live))
	if live != nil {
		spec.AccessModes = live.Spec.AccessModes
		if spec.StorageClassName = live.Spec.StorageClassName; spec.StorageClassName == nil {
			spec.WithStorageClassName("")
		}
	}
	id := names.Managers(in.Diva)
	return ensure.Child{
		Object: corev1ac.PersistentVolumeClaim(name, id.Namespace).WithLabels(id.Labels).WithSpec(spec),
		Keep:   true,
		Retain: names.Retains(in.Diva),
	}
}

func claimSpec(s opsv1.Storage, size resource.Quantity) *corev1ac.PersistentVolumeClaimSpecApplyConfiguration {
	return corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(AccessMode(s)).
		WithStorageClassName(s.ClassName).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: size}))
}

// Template returns the client pods' claim template for the StatefulSet. It has no kind and apiVersion: the API server
// does not return these fields for a template, so opcrew would see drift forever.
func Template(d *opsv1.Diva, size resource.Quantity) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	return (&corev1ac.PersistentVolumeClaimApplyConfiguration{}).WithName(names.ClaimTemplate).WithLabels(names.Clients(d).Labels).
		WithSpec(claimSpec(d.Spec.Client.Storage, size))
}
