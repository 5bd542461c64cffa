// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// growingClasses are those of claims that ask for less than they are to have.
func (f facts) growingClasses(d *opsv1.Diva) []string {
	var out []string
	add := func(s opsv1.Storage, claim *corev1.PersistentVolumeClaim) {
		if claim == nil || !workload.HasVolume(claim) {
			return
		}
		if has := workload.Asked(claim); has.Cmp(size(s)) < 0 {
			out = append(out, workload.ClassOf(claim))
		}
	}
	add(d.Spec.Manager.Storage, f.claims[managers(d).Name])
	add(d.Spec.Extra.Storage, f.claims[extraClaim(d)])
	for _, claim := range f.clientClaims(d) {
		add(d.Spec.Client.Storage, claim)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// clientClaims are those of the clients by name, also of clients that went.
func (f facts) clientClaims(d *opsv1.Diva) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for _, name := range slices.Sorted(maps.Keys(f.claims)) {
		if strings.HasPrefix(name, claimTemplate+"-"+clients(d).Name+"-") {
			out = append(out, f.claims[name])
		}
	}
	return out
}

// templateSize is how large new claims of clients are to be. It follows only when all that
// there are have been asked to grow: a StatefulSet that is recreated has then nothing left
// to do at its pods, and one whose claims cannot grow is not. A size that is taken back is
// followed at once: no further client could have the larger one.
func (f facts) templateSize(d *opsv1.Diva) resource.Quantity {
	wanted := size(d.Spec.Client.Storage)
	has, ok := templateOf(f.clients.Set)
	if !ok {
		return wanted
	}
	behind := slices.ContainsFunc(f.clientClaims(d), func(claim *corev1.PersistentVolumeClaim) bool {
		is := workload.Asked(claim)
		return workload.HasVolume(claim) && is.Cmp(wanted) < 0
	})
	if behind {
		return has
	}
	return wanted
}

func templateOf(set *appsv1.StatefulSet) (resource.Quantity, bool) {
	if set == nil || len(set.Spec.VolumeClaimTemplates) == 0 {
		return resource.Quantity{}, false
	}
	return workload.Asked(&set.Spec.VolumeClaimTemplates[0]), true
}

// growth are the patches by which claims of clients grow, also of those that are not there
// at the moment: they would come back with too little; and by which they take back what they
// asked for and did not get.
func (f facts) growth(d *opsv1.Diva) []kit.Patch {
	var out []kit.Patch
	wanted := size(d.Spec.Client.Storage)
	for _, claim := range f.clientClaims(d) {
		has := workload.Asked(claim)
		grows := workload.HasVolume(claim) && has.Cmp(wanted) < 0 && f.rigid[workload.ClassOf(claim)] == ""
		if f.patchable(claim) && (grows || f.takenBack(claim, wanted)) {
			out = append(out, workload.Resize(claim, wanted))
		}
	}
	return out
}
