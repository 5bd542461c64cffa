// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// size is what a claim asks for; 0 for text that the schema does not admit.
func size(s opsv1.Storage) resource.Quantity {
	q, err := resource.ParseQuantity(s.Size)
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// grown is the larger of what the spec asks for and what a claim has: one that is left from
// an earlier Diva, or that someone has made larger by hand, cannot shrink. One whose class
// does not let it grow, or that has no volume yet, stays as it is. What was asked for and not
// granted can be taken back.
func (f facts) grown(s opsv1.Storage, claim *corev1.PersistentVolumeClaim) resource.Quantity {
	wanted := size(s)
	if claim == nil || f.takenBack(claim, wanted) {
		return wanted
	}
	if has := workload.Asked(claim); has.Cmp(wanted) > 0 || f.rigid[workload.ClassOf(claim)] != "" || !workload.HasVolume(claim) {
		return has
	}
	return wanted
}

func accessMode(s opsv1.Storage) corev1.PersistentVolumeAccessMode {
	return cmp.Or(s.AccessMode, corev1.ReadWriteOnce)
}

// claimSpec declares a claim.
func claimSpec(s opsv1.Storage, amount resource.Quantity) *corev1ac.PersistentVolumeClaimSpecApplyConfiguration {
	return corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(accessMode(s)).
		WithStorageClassName(s.ClassName).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: amount}))
}

// claim declares the claim of the manager or of its resources. What cannot change stays as
// it is in one that is left from an earlier Diva; StorageReady reports it.
func (f facts) claim(d *opsv1.Diva, name string, s opsv1.Storage) ensure.Child {
	live := f.claims[name]
	spec := claimSpec(s, f.grown(s, live))
	if live != nil {
		spec.AccessModes = live.Spec.AccessModes
		if spec.StorageClassName = live.Spec.StorageClassName; spec.StorageClassName == nil {
			spec.WithStorageClassName("")
		}
	}
	id := managers(d)
	return ensure.Child{
		Object: corev1ac.PersistentVolumeClaim(name, d.Namespace).WithLabels(id.Labels).WithSpec(spec),
		Data:   &ensure.Data{Retain: retains(d)},
	}
}

// claimTemplates declares what the StatefulSet makes claims of. The API server gives back
// neither their kind nor their version, so that declaring them would be drift for ever.
func claimTemplates(d *opsv1.Diva, amount resource.Quantity) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	return (&corev1ac.PersistentVolumeClaimApplyConfiguration{}).WithName(claimTemplate).WithLabels(clients(d).Labels).
		WithSpec(claimSpec(d.Spec.Client.Storage, amount))
}
