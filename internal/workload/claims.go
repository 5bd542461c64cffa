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

// The claims of a StatefulSet's pods are made by its controller, so that they are no children: what they are to
// have is put on by patches.

// HasVolume reports whether a claim has its volume: the API server lets no other one grow.
func HasVolume(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimBound
}

// Asked is what a claim asks for as it is.
func Asked(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// Capacity is what the volume of a claim has.
func Capacity(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Status.Capacity[corev1.ResourceStorage]
}

// ClassOf is the class of a claim, "" for none.
func ClassOf(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}

// ResizeRefused is what a driver says that does not make a volume larger, and whether it will not try again.
func ResizeRefused(claim *corev1.PersistentVolumeClaim) (words string, final bool) {
	for _, c := range claim.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == corev1.PersistentVolumeClaimControllerResizeError || c.Type == corev1.PersistentVolumeClaimNodeResizeError) {
			words = c.Message
		}
	}
	is := claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]
	if is == corev1.PersistentVolumeClaimControllerResizeInfeasible || is == corev1.PersistentVolumeClaimNodeResizeInfeasible {
		return cmp.Or(words, "its driver says "+string(is)), true
	}
	return words, false
}

// Resizing says how far a volume is from what it is to have, in the words of anyone who makes it larger; "" where it
// has that.
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

// Resize patches exactly the claim that was looked at, and only from the size that was seen.
func Resize(claim *corev1.PersistentVolumeClaim, to resource.Quantity) kit.Patch {
	from := Asked(claim)
	return ClaimPatch(claim, Change{Path: "/spec/resources/requests/storage", From: from.String(), To: to.String()}, to.String())
}

// Change is one of a field of a claim; From is nil where there is none.
type Change struct {
	Path     string
	From, To any
}

// ClaimPatch patches exactly the claim that was looked at, and only from what was seen.
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
	if err != nil { // text and nothing else
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
