// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

const divaKind = "Diva"

// ownerPatches make the Diva an owner of clients' claims while the data is to be deleted with it, and no owner while it
// is to stay. The StatefulSet retains all claims: those that it owned would be deleted with a StatefulSet that a user
// deletes, and those of clients that were scaled away would stay when the Diva goes.
func (in Input) ownerPatches() []kit.Patch {
	var out []kit.Patch
	for _, claim := range in.clientClaims() {
		if !in.patchable(claim) || ofEarlierDiva(in.Diva, claim) {
			continue // it is deleted with an earlier Diva of the name
		}
		if desired := owners(in.Diva, claim); !slices.EqualFunc(desired, claim.OwnerReferences, sameOwner) {
			var from any // nil if there are none
			if len(claim.OwnerReferences) > 0 {
				from = claim.OwnerReferences
			}
			change := workload.Change{Path: "/metadata/ownerReferences", From: from, To: desired}
			out = append(out, workload.ClaimPatch(claim, change, fmt.Sprint(names.Retains(in.Diva))))
		}
	}
	return out
}

// labelPatches put opcrew's labels back on claims of clients that lost them, so that the cache has them. A claim whose
// labels say that it belongs to another owner is left alone.
func (in Input) labelPatches() []kit.Patch {
	var out []kit.Patch
	for _, claim := range in.clientClaims() {
		if !in.patchable(claim) || !lostLabels(claim.Labels, names.Selector(in.Diva)) {
			continue
		}
		desired := maps.Clone(claim.Labels)
		if desired == nil {
			desired = map[string]string{}
		}
		maps.Copy(desired, names.Clients(in.Diva).Labels)
		var from any // nil if there are none
		if len(claim.Labels) > 0 {
			from = claim.Labels
		}
		out = append(out, workload.ClaimPatch(claim, workload.Change{Path: "/metadata/labels", From: from, To: desired}, "ours"))
	}
	return out
}

// lostLabels reports whether labels lack some of ours and have no other value for any.
func lostLabels(labels, ours map[string]string) bool {
	lost := false
	for key, value := range ours {
		has, ok := labels[key]
		if ok && has != value {
			return false
		}
		lost = lost || !ok
	}
	return lost
}

// owners are those that a claim is to have. Other owners stay, but not the StatefulSet of an earlier version of opcrew.
// The Diva is not the controller, as the StatefulSet's controller creates the claims, and blocks no deletion.
func owners(d *opsv1.Diva, claim *corev1.PersistentVolumeClaim) []metav1.OwnerReference {
	out := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool {
		return o.UID == d.UID || o.Kind == "StatefulSet" && o.Name == names.Clients(d).Name
	})
	if !names.Retains(d) {
		out = append(out, metav1.OwnerReference{APIVersion: opsv1.GroupVersion.String(), Kind: divaKind, Name: d.Name, UID: d.UID})
	}
	if out == nil {
		out = []metav1.OwnerReference{} // null is no list
	}
	return out
}

// ofEarlierDiva reports whether a claim is deleted with an earlier Diva of the name.
func ofEarlierDiva(d *opsv1.Diva, claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return isDiva(o) && o.UID != d.UID })
}

func isDiva(o metav1.OwnerReference) bool {
	return o.Kind == divaKind && strings.HasPrefix(o.APIVersion, opsv1.GroupVersion.Group+"/")
}

func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

// patchable reports whether a claim can be patched as it was read: it is not being deleted, and the cache has opcrew's
// last patch of it.
func (in Input) patchable(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil && !in.Stale[claim.Name]
}
