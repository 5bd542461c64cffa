// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volumes compares the claims of members to the spec, and reports how far their volumes have grown. Package
// membership decides when to replace a member whose claim differs.
package volumes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// ClaimAnnotation holds, in JSON, the terms of the claim (size, storage class and so on) that the spec requested when
// the claim was created.
const ClaimAnnotation = "etcd.opcrew.io/claim"

// terms are the size of a claim and the fields that Kubernetes cannot change once the claim has a volume. If they
// differ from the spec, a new member with a new claim replaces the member. A different size counts only if the claim
// never had a volume.
type terms struct {
	StorageClassName          *string                             `json:"storageClassName,omitempty"`
	VolumeAttributesClassName *string                             `json:"volumeAttributesClassName,omitempty"`
	AccessModes               []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`
	Selector                  *metav1.LabelSelector               `json:"selector,omitempty"`
	Storage                   resource.Quantity                   `json:"storage,omitzero"`
}

// TermsOf returns the terms in the spec of a claim: its size, and the fields that Kubernetes cannot change later.
func TermsOf(spec corev1.PersistentVolumeClaimSpec) terms {
	return terms{
		spec.StorageClassName, spec.VolumeAttributesClassName, spec.AccessModes, spec.Selector, spec.Resources.Requests[corev1.ResourceStorage],
	}
}

// RequestedTerms returns the terms (size, storage class and so on) that the spec requested when the claim was created,
// or the claim's own terms if none were recorded. The two differ if a default or an admission webhook filled in a
// field.
func RequestedTerms(claim *corev1.PersistentVolumeClaim) terms {
	var out terms
	if err := json.Unmarshal([]byte(claim.Annotations[ClaimAnnotation]), &out); err != nil {
		return TermsOf(claim.Spec)
	}
	return out
}

// Differs explains how a claim differs from the spec; "" if it matches. A field matches if the claim has the spec's
// value, or if opcrew requested the spec's value when it created the claim and a webhook changed it.
func Differs(c *etcdv1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) string {
	if !model.Persistent(c) || claim == nil {
		return ""
	}
	desired, has, asked := TermsOf(*c.Spec.Pod.PersistentVolumeClaimSpec), TermsOf(claim.Spec), RequestedTerms(claim)
	text := func(words *string) string { return cmp.Or(valueOf(words), "none") }
	switch {
	case differentName(desired.StorageClassName, has.StorageClassName) && differentName(desired.StorageClassName, asked.StorageClassName):
		return fmt.Sprintf("claim %s has storageClassName %s instead of %s", claim.Name, text(has.StorageClassName), text(desired.StorageClassName))
	case differentName(desired.VolumeAttributesClassName, has.VolumeAttributesClassName) && differentName(desired.VolumeAttributesClassName, asked.VolumeAttributesClassName):
		return fmt.Sprintf("claim %s has volumeAttributesClassName %s instead of %s", claim.Name, text(has.VolumeAttributesClassName), text(desired.VolumeAttributesClassName))
	case differentModes(desired.AccessModes, has.AccessModes) && differentModes(desired.AccessModes, asked.AccessModes):
		return fmt.Sprintf("claim %s has accessModes %s instead of %s", claim.Name, has.AccessModes, desired.AccessModes)
	case !equality.Semantic.DeepEqual(desired.Selector, has.Selector) && !equality.Semantic.DeepEqual(desired.Selector, asked.Selector):
		return fmt.Sprintf("claim %s has another selector", claim.Name)
	case Unprovisioned(claim) && desired.Storage.Cmp(has.Storage) != 0 && desired.Storage.Cmp(asked.Storage) != 0:
		return fmt.Sprintf("claim %s waits for a volume of %s instead of %s", claim.Name, has.Storage.String(), desired.Storage.String())
	}
	return ""
}

// Unprovisioned reports whether a claim has never had a volume, so that no data was ever written to it.
func Unprovisioned(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimPending && claim.Spec.VolumeName == ""
}

// differentName compares class names. If the spec sets no class, Kubernetes chooses one, which counts as equal.
func differentName(desired, has *string) bool { return desired != nil && *desired != valueOf(has) }

func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// differentModes compares access modes, whose order does not matter.
func differentModes(desired, has []corev1.PersistentVolumeAccessMode) bool {
	distinct := func(modes []corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode {
		return slices.Compact(slices.Sorted(slices.Values(modes)))
	}
	return !slices.Equal(distinct(desired), distinct(has))
}
