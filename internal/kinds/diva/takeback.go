// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

// A size that volumes cannot have is taken back as Kubernetes has it: a claim can ask for
// less again, for more than its volume has. Nothing shrinks by that.

// pending reports whether a claim asks for more than its volume has.
func pending(claim *corev1.PersistentVolumeClaim) bool {
	asks, has := workload.Asked(claim), workload.Capacity(claim)
	return workload.HasVolume(claim) && asks.Cmp(has) > 0
}

// takenBack reports whether a claim is to ask for less again: for what it asks it did not get,
// and it was the operator who asked. What someone asks for by hand is left alone.
func (f facts) takenBack(claim *corev1.PersistentVolumeClaim, wanted resource.Quantity) bool {
	asks, has := workload.Asked(claim), workload.Capacity(claim)
	return pending(claim) && asks.Cmp(wanted) > 0 && wanted.Cmp(has) > 0 && f.weAsked[claim.Name]
}

var sizePath = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "resources", "requests", "storage"))

// observeAsked asks who wrote what claims ask for and did not get, where that is more than
// they are to have. The cache does not tell; what cannot be read is not known to be ours.
func (r *reconciler) observeAsked(ctx context.Context, d *opsv1.Diva, f *facts) {
	f.weAsked = map[string]bool{}
	if !slices.ContainsFunc(f.sized(d), func(e expected) bool {
		asks := workload.Asked(f.claims[e.name])
		return pending(f.claims[e.name]) && asks.Cmp(size(e.storage)) > 0
	}) {
		return
	}
	live := &corev1.PersistentVolumeClaimList{}
	if err := r.Live.List(ctx, live, client.InNamespace(d.Namespace), client.MatchingLabels(ours(d))); err != nil {
		return
	}
	for i := range live.Items {
		f.weAsked[live.Items[i].Name] = wroteSize(&live.Items[i])
	}
}

// sized are the claims that are there, with what each is to have.
func (f facts) sized(d *opsv1.Diva) []expected {
	var out []expected
	for _, e := range []expected{{managers(d).Name, d.Spec.Manager.Storage}, {extraClaim(d), d.Spec.Extra.Storage}} {
		if f.claims[e.name] != nil {
			out = append(out, e)
		}
	}
	for _, claim := range f.clientClaims(d) {
		out = append(out, expected{claim.Name, d.Spec.Client.Storage})
	}
	return out
}

// wroteSize reports whether the operator wrote what a claim asks for.
func wroteSize(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		set := &fieldpath.Set{}
		return e.Manager == common.Name && e.Subresource == "" && e.FieldsV1 != nil &&
			set.FromJSON(e.FieldsV1.GetRawReader()) == nil && !set.Intersection(sizePath).Empty()
	})
}

// leastSizes are those down to which the spec can be taken back, nil for none.
func (f facts) leastSizes(d *opsv1.Diva) *opsv1.LeastSizes {
	out := &opsv1.LeastSizes{
		Client:  f.least(d.Spec.Client.Storage, f.clientClaims(d)...),
		Manager: f.least(d.Spec.Manager.Storage, f.claims[managers(d).Name]),
		Extra:   f.least(d.Spec.Extra.Storage, f.claims[extraClaim(d)]),
	}
	if equality.Semantic.DeepEqual(*out, opsv1.LeastSizes{}) {
		return nil
	}
	return out
}

// least is the smallest size in Gi that all claims of a part can have; 0 where that is what
// the spec has.
func (f facts) least(s opsv1.Storage, claims ...*corev1.PersistentVolumeClaim) int32 {
	wanted := size(s)
	most := int64(0)
	for _, claim := range claims {
		if claim != nil {
			most = max(most, f.leastOf(claim, wanted))
		}
	}
	if most >= wholeGi(wanted) {
		return 0
	}
	return int32(most)
}

// leastOf is the smallest size in Gi that a claim can have.
func (f facts) leastOf(claim *corev1.PersistentVolumeClaim, wanted resource.Quantity) int64 {
	asks, has := workload.Asked(claim), workload.Capacity(claim)
	switch {
	case !workload.HasVolume(claim):
		return 1 // somebody deletes it, and it is recreated
	case pending(claim) || asks.Cmp(wanted) < 0 && f.rigid[workload.ClassOf(claim)] == "": // it is about to ask
		return has.Value()/gi + 1
	}
	return wholeGi(asks)
}

const gi = int64(1) << 30

// wholeGi is a quantity in Gi, rounded up.
func wholeGi(q resource.Quantity) int64 { return (q.Value() + gi - 1) / gi }

// wayBack says how the size of a claim can be taken back, or nothing.
func (f facts) wayBack(d *opsv1.Diva, e expected) string {
	least, part := opsv1.LeastSizes{}, "client"
	if all := f.leastSizes(d); all != nil {
		least = *all
	}
	n := least.Client
	switch e.name {
	case managers(d).Name:
		part, n = "manager", least.Manager
	case extraClaim(d):
		part, n = "extra", least.Extra
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; spec.%s.storage.size can be taken back, to %dGi or more", part, n)
}
