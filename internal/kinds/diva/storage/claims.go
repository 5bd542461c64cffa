// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/workload"
)

// Expected is a claim that the spec requires.
type Expected struct {
	Name    string
	Storage opsv1.Storage
}

// unnumbered is the number of expected claims without an ordinal, which are the manager pods' claims. ExpectedClaims
// returns them before the client pods' claims.
const unnumbered = 2

// ExpectedClaims returns the claims that the spec requires, with the client pods' claims sorted by ordinal.
func ExpectedClaims(d *opsv1.Diva) []Expected {
	out := managersClaims(d)
	for i := range d.Spec.Client.Replicas {
		out = append(out, Expected{names.ClientClaim(d, i), d.Spec.Client.Storage})
	}
	return out
}

func managersClaims(d *opsv1.Diva) []Expected {
	return []Expected{{names.Managers(d).Name, d.Spec.Manager.Storage}, {names.ExtraClaim(d), d.Spec.Extra.Storage}}
}

// clientClaims returns the client pods' claims sorted by name, including claims of removed clients.
func (in Input) clientClaims() []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for _, name := range slices.Sorted(maps.Keys(in.Claims)) {
		if strings.HasPrefix(name, names.ClaimTemplate+"-"+names.Clients(in.Diva).Name+"-") {
			out = append(out, in.Claims[name])
		}
	}
	return out
}

// existing returns the claims that exist, each with the storage that the spec requires for it.
func (in Input) existing() []Expected {
	out := slices.DeleteFunc(managersClaims(in.Diva), func(e Expected) bool { return in.Claims[e.Name] == nil })
	for _, claim := range in.clientClaims() {
		out = append(out, Expected{claim.Name, in.Diva.Spec.Client.Storage})
	}
	return out
}

// FirstUnbound returns the first claim that has no volume yet, or nil if every claim has one.
func (in Input) FirstUnbound() *corev1.PersistentVolumeClaim {
	for _, e := range ExpectedClaims(in.Diva) {
		if claim := in.Claims[e.Name]; claim != nil && claim.Status.Phase != corev1.ClaimBound && claim.Status.Phase != corev1.ClaimLost {
			return claim
		}
	}
	return nil
}

// SmallClasses returns the StorageClasses of claims that request less than the spec requires.
func (in Input) SmallClasses() []string {
	var out []string
	for _, e := range in.existing() {
		claim := in.Claims[e.Name]
		if requested := workload.Requested(claim); workload.HasVolume(claim) && requested.Cmp(Size(e.Storage)) < 0 {
			out = append(out, workload.ClassOf(claim))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Oversized reports whether a claim requests more than the spec requires and its volume has not grown to that size.
func (in Input) Oversized() bool {
	return slices.ContainsFunc(in.existing(), func(e Expected) bool {
		requested := workload.Requested(in.Claims[e.Name])
		return pending(in.Claims[e.Name]) && requested.Cmp(Size(e.Storage)) > 0
	})
}

// Size returns the size of a claim in the spec; 0 for a text that the CRD would reject.
func Size(s opsv1.Storage) resource.Quantity {
	q, err := resource.ParseQuantity(s.Size)
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// AccessMode returns the access mode of a claim in the spec.
func AccessMode(s opsv1.Storage) corev1.PersistentVolumeAccessMode {
	return cmp.Or(s.AccessMode, corev1.ReadWriteOnce)
}

// sharable reports whether several nodes can mount a volume at the same time. If the claim exists, its access modes
// decide and not those in the spec, because access modes are immutable.
func (in Input) sharable(name string, s opsv1.Storage) bool {
	if claim := in.Claims[name]; claim != nil {
		return slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteMany)
	}
	return AccessMode(s) == corev1.ReadWriteMany
}
