// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

const divaKind = "Diva"

// owning are the patches by which the claims of clients get the Diva for an owner while the
// data is to go with it, and lose it when it is to stay. The StatefulSet retains them all:
// what it would own would go with a StatefulSet that someone deletes, and what it does not
// see any more, those of clients that went, would stay when the object goes.
func (f facts) owning(d *opsv1.Diva) []kit.Patch {
	var out []kit.Patch
	for _, claim := range f.clientClaims(d) {
		if !f.patchable(claim) || ofAnEarlier(d, claim) {
			continue // it goes with an earlier Diva of the name
		}
		if wanted := owners(d, claim); !slices.EqualFunc(wanted, claim.OwnerReferences, sameOwner) {
			var from any // nothing for none
			if len(claim.OwnerReferences) > 0 {
				from = claim.OwnerReferences
			}
			out = append(out, workload.ClaimPatch(claim, workload.Change{Path: "/metadata/ownerReferences", From: from, To: wanted}, fmt.Sprint(retains(d))))
		}
	}
	return out
}

// labelling are the patches by which claims of clients are seen again that lost our labels.
// Where one says that it belongs to someone else, it is left so.
func (f facts) labelling(d *opsv1.Diva) []kit.Patch {
	var out []kit.Patch
	for _, claim := range f.clientClaims(d) {
		wanted, lacks, taken := maps.Clone(claim.Labels), false, false
		if wanted == nil {
			wanted = map[string]string{}
		}
		for key, value := range ours(d) {
			has, ok := claim.Labels[key]
			lacks, taken = lacks || !ok, taken || ok && has != value
		}
		if !f.patchable(claim) || !lacks || taken {
			continue
		}
		maps.Copy(wanted, clients(d).Labels)
		var from any // nothing for none
		if len(claim.Labels) > 0 {
			from = claim.Labels
		}
		out = append(out, workload.ClaimPatch(claim, workload.Change{Path: "/metadata/labels", From: from, To: wanted}, "ours"))
	}
	return out
}

// owners are those that a claim is to have: others' stay, a StatefulSet's of an earlier
// version of opcrew does not. Ours is no controller's, as the StatefulSet's controller makes
// the claims, and blocks nothing.
func owners(d *opsv1.Diva, claim *corev1.PersistentVolumeClaim) []metav1.OwnerReference {
	out := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool {
		return o.UID == d.UID || o.Kind == "StatefulSet" && o.Name == clients(d).Name
	})
	if !retains(d) {
		out = append(out, metav1.OwnerReference{APIVersion: opsv1.GroupVersion.String(), Kind: divaKind, Name: d.Name, UID: d.UID})
	}
	if out == nil {
		out = []metav1.OwnerReference{} // null is no list
	}
	return out
}

// ofAnEarlier reports whether a claim goes with an earlier Diva of the name.
func ofAnEarlier(d *opsv1.Diva, claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return isDiva(o) && o.UID != d.UID })
}

func isDiva(o metav1.OwnerReference) bool {
	return o.Kind == divaKind && strings.HasPrefix(o.APIVersion, opsv1.GroupVersion.Group+"/")
}

func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

// patchable reports whether a claim can be patched as it was seen: it is not on its way out,
// and the cache has seen our own last patch of it.
func (f facts) patchable(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil && !f.patched[claim.Name]
}
