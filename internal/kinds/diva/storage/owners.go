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

// ownerPatches sets the Diva as an owner of client pods' claims if the claims should be deleted with the Diva, and
// otherwise removes this owner. The retention policy of the StatefulSet cannot do this: it would also delete claims
// when a user deletes the StatefulSet.
func (in Input) ownerPatches() []kit.Patch {
	var out []kit.Patch
	for _, claim := range in.clientClaims() {
		if !in.patchable(claim) || ofEarlierDiva(in.Diva, claim) {
			continue // the claim will be deleted with an earlier Diva of the same name
		}
		if desired := owners(in.Diva, claim); !slices.EqualFunc(desired, claim.OwnerReferences, sameOwner) {
			var from any // null in the JSON patch if there are no owners
			if len(claim.OwnerReferences) > 0 {
				from = claim.OwnerReferences
			}
			change := workload.Change{Path: "/metadata/ownerReferences", From: from, To: desired}
			out = append(out, workload.ClaimPatch(claim, change, fmt.Sprint(names.Retains(in.Diva))))
		}
	}
	return out
}

// labelPatches restores opcrew's labels on client pods' claims that lost them, because the cache only contains labelled
// claims. A claim whose labels name another owner is skipped.
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
		var from any // null in the JSON patch if there are no labels
		if len(claim.Labels) > 0 {
			from = claim.Labels
		}
		out = append(out, workload.ClaimPatch(claim, workload.Change{Path: "/metadata/labels", From: from, To: desired}, "ours"))
	}
	return out
}

// lostLabels reports whether some of opcrew's labels are missing and none of them has a different value.
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

// owners returns the desired owners of a claim. It keeps other owners, except a StatefulSet that an earlier version of
// opcrew set. The Diva is not the controller and does not block deletion, because the StatefulSet creates the claims.
func owners(d *opsv1.Diva, claim *corev1.PersistentVolumeClaim) []metav1.OwnerReference {
	out := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool {
		return o.UID == d.UID || o.Kind == "StatefulSet" && o.Name == names.Clients(d).Name
	})
	if !names.Retains(d) {
		out = append(out, metav1.OwnerReference{APIVersion: opsv1.GroupVersion.String(), Kind: divaKind, Name: d.Name, UID: d.UID})
	}
	if out == nil {
		out = []metav1.OwnerReference{} // nil would become null in the JSON patch, but the field must be a list
	}
	return out
}

// ofEarlierDiva reports whether a claim will be deleted with an earlier Diva of the same name.
func ofEarlierDiva(d *opsv1.Diva, claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return isDiva(o) && o.UID != d.UID })
}

func isDiva(o metav1.OwnerReference) bool {
	return o.Kind == divaKind && strings.HasPrefix(o.APIVersion, opsv1.GroupVersion.Group+"/")
}

func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

// patchable reports whether a claim can be patched now: it is not being deleted, and the cache already shows opcrew's
// last patch.
func (in Input) patchable(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil && !in.Stale[claim.Name]
}
