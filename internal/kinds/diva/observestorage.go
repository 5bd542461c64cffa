// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
)

func (r *reconciler) observeClaims(ctx context.Context, d *opsv1.Diva, f *facts) error {
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Client.List(ctx, list, client.InNamespace(d.Namespace), client.MatchingLabels(names.Selector(d))); err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	f.claims, f.stale = map[string]*corev1.PersistentVolumeClaim{}, map[string]bool{}
	for i := range list.Items {
		claim := &list.Items[i]
		f.claims[claim.Name] = claim
		f.stale[claim.Name] = r.Children.Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
	}
	r.observeUnlabelled(ctx, d, f)
	r.observeClasses(ctx, d, f)
	r.observeOwnSizes(ctx, d, f)
	unbound := storage.Input{Diva: d, Claims: f.claims}.FirstUnbound()
	if unbound == nil {
		r.unbound.Forget(client.ObjectKeyFromObject(d))
		return nil
	}
	f.unbound = r.unbound.Why(ctx, client.ObjectKeyFromObject(d), unbound, hasReason(d, opsv1.DivaStorageReady, opsv1.ReasonClaimsPending))
	return nil
}

// observeUnlabelled reads claims that client pods use but that the cache does not contain, because they lack opcrew's
// labels. A user may have restored such a claim from a backup. A claim that cannot be read stays unknown.
func (r *reconciler) observeUnlabelled(ctx context.Context, d *opsv1.Diva, f *facts) {
	for _, pod := range boundClients(f.clients) {
		name, claim := names.ClaimTemplate+"-"+pod.Name, &corev1.PersistentVolumeClaim{}
		if f.claims[name] != nil {
			continue
		}
		if err := r.Live.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: name}, claim); err == nil {
			f.claims[name] = claim
		}
	}
}

// observeClasses finds out whether the volumes of claims that request too little can grow. If a StorageClass cannot be
// read, the claims of this class stay unchanged for now.
func (r *reconciler) observeClasses(ctx context.Context, d *opsv1.Diva, f *facts) {
	rigid, unread := r.classes.Rigid(ctx, storage.Input{Diva: d, Claims: f.claims}.SmallClasses())
	maps.Copy(rigid, unread)
	f.rigid = rigid
}

// observeOwnSizes finds out which sizes opcrew itself requested, if a claim requests more than the spec and its volume
// never grew to that size. It reads managed fields from the API server, because the cache omits them. If this read
// fails, opcrew counts as the writer of no request.
func (r *reconciler) observeOwnSizes(ctx context.Context, d *opsv1.Diva, f *facts) {
	f.ownSizes = map[string]bool{}
	if !(storage.Input{Diva: d, Claims: f.claims}).Oversized() {
		return
	}
	live := &corev1.PersistentVolumeClaimList{}
	if err := r.Live.List(ctx, live, client.InNamespace(d.Namespace), client.MatchingLabels(names.Selector(d))); err != nil {
		return
	}
	for i := range live.Items {
		f.ownSizes[live.Items[i].Name] = wroteSize(&live.Items[i])
	}
}

var sizePath = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "resources", "requests", "storage"))

// wroteSize reports whether opcrew wrote the size that a claim requests.
func wroteSize(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		set := &fieldpath.Set{}
		return e.Manager == common.Name && e.Subresource == "" && e.FieldsV1 != nil &&
			set.FromJSON(e.FieldsV1.GetRawReader()) == nil && !set.Intersection(sizePath).Empty()
	})
}
