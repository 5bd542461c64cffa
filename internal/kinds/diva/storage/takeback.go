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

// A size that volumes cannot get is lowered as far as Kubernetes allows: a claim can request less again, as long as it
// is more than its volume has. Volumes never shrink.

// pending reports whether a claim requests more than its volume has.
func pending(claim *corev1.PersistentVolumeClaim) bool {
	requested, has := workload.Requested(claim), workload.Capacity(claim)
	return workload.HasVolume(claim) && requested.Cmp(has) > 0
}

// takesBack reports whether a claim's request should be lowered. The request must come from opcrew and not have been
// granted. A request that a user made by hand is left alone.
func (in Input) takesBack(claim *corev1.PersistentVolumeClaim, desired resource.Quantity) bool {
	requested, has := workload.Requested(claim), workload.Capacity(claim)
	return pending(claim) && requested.Cmp(desired) > 0 && desired.Cmp(has) > 0 && in.OwnSizes[claim.Name]
}

// leastSizes returns the sizes to which the spec can be lowered again; nil if there are none.
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

// least returns the smallest size in Gi that all of some claims can have; 0 if the spec already has it.
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

// leastOf returns the smallest size in Gi that a claim can have.
func (in Input) leastOf(claim *corev1.PersistentVolumeClaim, desired resource.Quantity) int64 {
	requested, has := workload.Requested(claim), workload.Capacity(claim)
	switch {
	case !workload.HasVolume(claim):
		return 1 // a user can delete the claim, which is then recreated
	case pending(claim) || requested.Cmp(desired) < 0 && in.growable(claim): // the request is made or imminent
		return has.Value()/gi + 1
	}
	return wholeGi(requested)
}

const gi = int64(1) << 30

// wholeGi returns a quantity in Gi, rounded up.
func wholeGi(q resource.Quantity) int64 { return (q.Value() + gi - 1) / gi }

// wayBack returns how the size of a claim can be lowered again; "" if it cannot.
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
