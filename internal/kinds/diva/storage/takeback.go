// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/workload"
)

// If volumes cannot reach the requested size, opcrew lowers the request as far as Kubernetes allows: a request can be
// lowered again as long as it stays above the size of the volume. Volumes never shrink.

// pending reports whether a claim requests more than its volume has.
func pending(claim *corev1.PersistentVolumeClaim) bool {
	requested, has := workload.Requested(claim), workload.Capacity(claim)
	return workload.HasVolume(claim) && requested.Cmp(has) > 0
}

// takesBack reports whether a claim's request should be lowered to desired. opcrew only lowers a request that it wrote
// itself and that the volume never reached.
func (in Input) takesBack(claim *corev1.PersistentVolumeClaim, desired resource.Quantity) bool {
	requested, has := workload.Requested(claim), workload.Capacity(claim)
	return pending(claim) && requested.Cmp(desired) > 0 && desired.Cmp(has) > 0 && in.OwnSizes[claim.Name]
}

// leastSizes returns the sizes to which a user can lower the sizes in the spec; nil if none can be lowered.
func (in Input) leastSizes() *opsv1.LeastSizes {
	d := in.Diva
	out := &opsv1.LeastSizes{
		Client:  in.least(d.Spec.Client.Storage, in.clientClaims()...),
		Manager: in.least(d.Spec.Manager.Storage, in.Claims[names.Managers(d).Name]),
		Extra:   in.least(d.Spec.Extra.Storage, in.Claims[names.ExtraClaim(d)]),
	}
	if equality.Semantic.DeepEqual(*out, opsv1.LeastSizes{}) {
		return nil
	}
	return out
}

// least returns the smallest size in GiB to which the size in the spec can be lowered, for all given claims; 0 if it
// cannot be lowered.
func (in Input) least(s opsv1.Storage, claims ...*corev1.PersistentVolumeClaim) int32 {
	desired := Size(s)
	most := int64(0)
	for _, claim := range claims {
		if claim != nil {
			most = max(most, in.leastOf(claim, desired))
		}
	}
	if most >= wholeGi(desired) {
		return 0
	}
	return int32(most)
}

// leastOf returns the smallest size in GiB that is possible for a claim.
func (in Input) leastOf(claim *corev1.PersistentVolumeClaim, desired resource.Quantity) int64 {
	requested, has := workload.Requested(claim), workload.Capacity(claim)
	switch {
	case !workload.HasVolume(claim):
		return 1 // any size is possible: if a user deletes the claim, it is recreated with the new size
	// The claim already requests a larger size than its volume has, or soon will.
	case pending(claim) || requested.Cmp(desired) < 0 && in.growable(claim):
		return has.Value()/gi + 1
	}
	return wholeGi(requested)
}

const gi = int64(1) << 30

// wholeGi returns a quantity in GiB, rounded up.
func wholeGi(q resource.Quantity) int64 { return (q.Value() + gi - 1) / gi }

// wayBack returns the end of a message that explains how far the size in the spec can be lowered; "" if it cannot be
// lowered.
func (in Input) wayBack(e Expected) string {
	least, part := opsv1.LeastSizes{}, "client"
	if all := in.leastSizes(); all != nil {
		least = *all
	}
	n := least.Client
	switch e.Name {
	case names.Managers(in.Diva).Name:
		part, n = "manager", least.Manager
	case names.ExtraClaim(in.Diva):
		part, n = "extra", least.Extra
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; you can lower spec.%s.storage.size again, to %dGi or more", part, n)
}
