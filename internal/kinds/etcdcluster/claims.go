// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

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
)

// claimAnnotation of a claim has its claimTerms in JSON, as the spec had them when the claim was created.
const claimAnnotation = "etcd.opcrew.io/claim"

// claimTerms are the fields of a claim that Kubernetes does not change in one that has a volume, and its size. A member
// whose claim has others than the spec is replaced by a new member on a new claim; for another size only while the
// claim has no volume that could grow.
type claimTerms struct {
	StorageClassName          *string                             `json:"storageClassName,omitempty"`
	VolumeAttributesClassName *string                             `json:"volumeAttributesClassName,omitempty"`
	AccessModes               []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`
	Selector                  *metav1.LabelSelector               `json:"selector,omitempty"`
	Storage                   resource.Quantity                   `json:"storage,omitzero"`
}

func termsOf(spec corev1.PersistentVolumeClaimSpec) claimTerms {
	return claimTerms{
		spec.StorageClassName, spec.VolumeAttributesClassName, spec.AccessModes, spec.Selector, spec.Resources.Requests[corev1.ResourceStorage],
	}
}

// askedTerms are what the spec asked for when a claim was created; what the claim has if no one noted that. The two
// differ where a default or an admission webhook filled in a field.
func askedTerms(claim *corev1.PersistentVolumeClaim) claimTerms {
	var out claimTerms
	if err := json.Unmarshal([]byte(claim.Annotations[claimAnnotation]), &out); err != nil {
		return termsOf(claim.Spec)
	}
	return out
}

// claimDiffers says in which field a claim is not what the spec asks for; "" where it is. A field is as asked for if the
// claim has it, or was created for it.
func claimDiffers(c *etcdv1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) string {
	if !persistent(c) || claim == nil {
		return ""
	}
	desired, has, asked := termsOf(*c.Spec.Pod.PersistentVolumeClaimSpec), termsOf(claim.Spec), askedTerms(claim)
	text := func(words *string) string { return cmp.Or(deref(words), "none") }
	switch {
	case otherName(desired.StorageClassName, has.StorageClassName) && otherName(desired.StorageClassName, asked.StorageClassName):
		return fmt.Sprintf("claim %s is of storageClassName %s and not %s", claim.Name, text(has.StorageClassName), text(desired.StorageClassName))
	case otherName(desired.VolumeAttributesClassName, has.VolumeAttributesClassName) && otherName(desired.VolumeAttributesClassName, asked.VolumeAttributesClassName):
		return fmt.Sprintf("claim %s is of volumeAttributesClassName %s and not %s", claim.Name, text(has.VolumeAttributesClassName), text(desired.VolumeAttributesClassName))
	case otherModes(desired.AccessModes, has.AccessModes) && otherModes(desired.AccessModes, asked.AccessModes):
		return fmt.Sprintf("claim %s has accessModes %s and not %s", claim.Name, has.AccessModes, desired.AccessModes)
	case !equality.Semantic.DeepEqual(desired.Selector, has.Selector) && !equality.Semantic.DeepEqual(desired.Selector, asked.Selector):
		return fmt.Sprintf("claim %s has another selector", claim.Name)
	case unprovisioned(claim) && desired.Storage.Cmp(has.Storage) != 0 && desired.Storage.Cmp(asked.Storage) != 0:
		return fmt.Sprintf("claim %s waits for a volume of %s and not %s", claim.Name, has.Storage.String(), desired.Storage.String())
	}
	return ""
}

// unprovisioned reports whether a claim has never had a volume, so that nothing was ever written to it.
func unprovisioned(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimPending && claim.Spec.VolumeName == ""
}

// otherName compares names of classes. A spec that names none leaves the choice to Kubernetes.
func otherName(desired, has *string) bool { return desired != nil && *desired != deref(has) }

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// otherModes compares access modes, which have no order.
func otherModes(desired, has []corev1.PersistentVolumeAccessMode) bool {
	distinct := func(modes []corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode {
		return slices.Compact(slices.Sorted(slices.Values(modes)))
	}
	return !slices.Equal(distinct(desired), distinct(has))
}

// superseded reports whether a new member takes the place of a voter: its pod cannot be recreated without the data, or its claim
// is not what the spec asks for.
func superseded(c *etcdv1beta2.EtcdCluster, m member) bool {
	return m.claimDiffers != "" || !persistent(c) && outdated(c, m)
}
