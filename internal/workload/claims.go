// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kit"
)

// Claims from the claim templates of a StatefulSet are created by the StatefulSet controller. They are not children
// that opcrew declares, so opcrew changes them with patches.

// HasVolume reports whether a claim is bound to a volume. Other claims cannot grow: the API server refuses to change
// their size.
func HasVolume(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimBound
}

// Requested returns the size that a claim currently requests.
func Requested(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// Capacity returns the size of a claim's volume.
func Capacity(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Status.Capacity[corev1.ResourceStorage]
}

// ClassOf returns the name of a claim's StorageClass; "" if it has none.
func ClassOf(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}

// ResizeRefused returns why a storage driver failed to enlarge a volume; "" if it did not fail. final is true if the
// driver will not retry.
func ResizeRefused(claim *corev1.PersistentVolumeClaim) (words string, final bool) {
	for _, c := range claim.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == corev1.PersistentVolumeClaimControllerResizeError || c.Type == corev1.PersistentVolumeClaimNodeResizeError) {
			words = c.Message
		}
	}
	is := claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]
	if is == corev1.PersistentVolumeClaimControllerResizeInfeasible || is == corev1.PersistentVolumeClaimNodeResizeInfeasible {
		return cmp.Or(words, "the storage driver reports "+string(is)), true
	}
	return words, false
}

// Resizing describes the progress of the resize of a volume, with the message of the controller that resizes the
// volume; "" if the volume has the desired size.
func Resizing(claim *corev1.PersistentVolumeClaim, wanted resource.Quantity) string {
	has, why := Capacity(claim), ""
	if has.Cmp(wanted) >= 0 {
		return ""
	}
	for _, c := range claim.Status.Conditions {
		if c.Status == corev1.ConditionTrue && c.Message != "" {
			why = ": " + c.Message
		}
	}
	return fmt.Sprintf("claim %s has %s of %s%s", claim.Name, has.String(), wanted.String(), why)
}

// Resize returns a patch that requests another size for a claim. The patch fails if the claim was replaced, or if its
// requested size has changed since it was read.
func Resize(claim *corev1.PersistentVolumeClaim, to resource.Quantity) kit.Patch {
	from := Requested(claim)
	return ClaimPatch(claim, Change{Path: "/spec/resources/requests/storage", From: from.String(), To: to.String()}, to.String())
}

// Change is a change of one field of a claim. From is the current value; nil if the field is not set.
type Change struct {
	Path     string
	From, To any
}

// ClaimPatch returns a patch that changes one field of a claim. The patch fails if the claim was replaced, or if the
// field has changed since it was read.
func ClaimPatch(claim *corev1.PersistentVolumeClaim, c Change, intent string) kit.Patch {
	set := jsonpatch.Replace
	if c.From == nil {
		set = jsonpatch.Add
	}
	ops := jsonpatch.Patch{jsonpatch.Test("/metadata/uid", claim.UID), jsonpatch.Test(c.Path, c.From), set(c.Path, c.To)}
	var fields []any
	for _, name := range strings.Split(c.Path, "/")[1:] {
		fields = append(fields, name)
	}
	return kit.Patch{
		Object: claim, Type: types.JSONPatchType, Data: ops.Encode(), Intent: intent,
		Fields: fieldpath.NewSet(fieldpath.MakePathOrDie(fields...)),
	}
}
