// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/kit"
)

// The controller of a StatefulSet creates the claims of its pods. So they are not children of the operator, which
// changes them by patches.

// HasVolume reports whether a claim is bound. The API server does not let unbound claims grow.
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

// ClassOf returns the StorageClass of a claim; "" if it has none.
func ClassOf(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}

// ResizeRefused returns why a driver did not enlarge a volume, and whether it will not retry; "" if it did not refuse.
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

// Resizing describes how far the resize of a volume is, in the words of the controller that resizes it; "" if it is
// done.
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

// Resize returns a patch that requests another size for the claim that was read. The patch fails if another claim has
// the name, or if the requested size has changed since it was read.
func Resize(claim *corev1.PersistentVolumeClaim, to resource.Quantity) kit.Patch {
	from := Requested(claim)
	return ClaimPatch(claim, Change{Path: "/spec/resources/requests/storage", From: from.String(), To: to.String()}, to.String())
}

// Change is a change of one field of a claim. From is nil if the field is not set.
type Change struct {
	Path     string
	From, To any
}

// ClaimPatch returns a patch that changes one field of the claim that was read. The patch fails if another claim has
// the name, or if the field has changed since it was read.
func ClaimPatch(claim *corev1.PersistentVolumeClaim, c Change, intent string) kit.Patch {
	op := "replace"
	if c.From == nil {
		op = "add"
	}
	data, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": claim.UID},
		{"op": "test", "path": c.Path, "value": c.From},
		{"op": op, "path": c.Path, "value": c.To},
	})
	if err != nil { // strings can always be encoded
		panic(fmt.Errorf("encode a patch: %w", err))
	}
	var fields []any
	for _, name := range strings.Split(c.Path, "/")[1:] {
		fields = append(fields, name)
	}
	return kit.Patch{
		Object: claim, Type: types.JSONPatchType, Data: data, Intent: intent,
		Fields: fieldpath.NewSet(fieldpath.MakePathOrDie(fields...)),
	}
}
