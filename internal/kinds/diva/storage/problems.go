// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/workload"
)

func lost(_ Input, _ Expected, claim *corev1.PersistentVolumeClaim) string {
	if claim.Status.Phase != corev1.ClaimLost {
		return ""
	}
	return fmt.Sprintf("claim %s has lost its volume: PersistentVolume %s no longer exists; restore the claim from a backup, or delete it to get an empty claim", claim.Name, claim.Spec.VolumeName)
}

// terminating reports a claim that a user deleted. Kubernetes keeps the claim as long as a pod uses it. When the pod is
// recreated, it gets a new, empty claim.
func terminating(in Input, _ Expected, claim *corev1.PersistentVolumeClaim) string {
	if claim.DeletionTimestamp == nil {
		return ""
	}
	when, data := "no pod uses it", ""
	if pod := in.Users[claim.Name]; pod != "" {
		when = "pod " + pod + " ends"
	}
	if volume := claim.Spec.VolumeName; volume != "" {
		data = fmt.Sprintf(", together with volume %s unless the volume has the reclaim policy Retain", volume)
	}
	return fmt.Sprintf("claim %s is being deleted, which cannot be undone. Kubernetes removes the claim as soon as %s%s, and an empty claim replaces it. Copy the data that you need before then", claim.Name, when, data)
}

// differs reports a claim that an earlier Diva left behind, if its StorageClass differs from the spec, or if the spec
// requires that several nodes can mount the volume and the claim does not allow this.
func differs(_ Input, e Expected, claim *corev1.PersistentVolumeClaim) string {
	const many = corev1.ReadWriteMany
	class, is := workload.ClassOf(claim), ""
	switch {
	case class != e.Storage.ClassName:
		is = fmt.Sprintf("has storage class %q instead of %q", class, e.Storage.ClassName)
	case AccessMode(e.Storage) == many && !slices.Contains(claim.Spec.AccessModes, many):
		is = fmt.Sprintf("has access modes %s instead of %s", claim.Spec.AccessModes, many)
	default:
		return ""
	}
	return fmt.Sprintf("claim %s existed before this Diva and %s; opcrew uses the claim unchanged. Recreate the Diva with a spec that matches the claim (claims are kept while deletionPolicy is Retain), or delete the claim and its data", claim.Name, is)
}

// cannotGrow reports a claim that cannot get the size in the spec, and explains how to lower the size again.
func cannotGrow(in Input, e Expected, claim *corev1.PersistentVolumeClaim) string {
	requested, has, desired := workload.Requested(claim), workload.Capacity(claim), Size(e.Storage)
	words, final := workload.ResizeRefused(claim)
	switch why := in.Rigid[workload.ClassOf(claim)]; {
	case !workload.HasVolume(claim):
	case why != "" && requested.Cmp(desired) < 0:
		return fmt.Sprintf("claim %s keeps %s and cannot grow to %s: %s%s", claim.Name, requested.String(), desired.String(), why, in.wayBack(e))
	case final && pending(claim) && desired.Cmp(has) > 0:
		return fmt.Sprintf("claim %s keeps %s and cannot grow to %s: %s%s", claim.Name, has.String(), requested.String(), words, in.wayBack(e))
	case pending(claim) && requested.Cmp(desired) > 0 && desired.Cmp(has) <= 0 && in.OwnSizes[claim.Name]:
		return fmt.Sprintf("the volume of claim %s has %s, but the claim still requests %s: Kubernetes lowers a request only to a size above that of the volume; set the size in the spec to %dGi", claim.Name, has.String(), requested.String(), has.Value()/gi+1)
	}
	return ""
}
