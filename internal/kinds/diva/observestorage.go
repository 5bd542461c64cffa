// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

func (r *reconciler) observeClaims(ctx context.Context, d *opsv1.Diva, f *facts) error {
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Client.List(ctx, list, client.InNamespace(d.Namespace), client.MatchingLabels(ours(d))); err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	f.claims, f.patched = map[string]*corev1.PersistentVolumeClaim{}, map[string]bool{}
	for i := range list.Items {
		claim := &list.Items[i]
		f.claims[claim.Name] = claim
		f.patched[claim.Name] = r.Writes().Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
	}
	r.observeUnlabelled(ctx, d, f)
	r.observeClasses(ctx, d, f)
	r.observeAsked(ctx, d, f)
	pending := f.pendingClaim(d)
	if pending == nil {
		r.unbound.Forget(client.ObjectKeyFromObject(d))
		return nil
	}
	f.unbound = r.unbound.Why(ctx, client.ObjectKeyFromObject(d), pending, told(d, opsv1.DivaStorageReady, opsv1.ReasonClaimsPending))
	return nil
}

// observeUnlabelled reads claims that clients run with and the cache does not have: those that
// the user has put back from a backup have none of our labels. What cannot be read is unknown.
func (r *reconciler) observeUnlabelled(ctx context.Context, d *opsv1.Diva, f *facts) {
	for _, pod := range f.boundClients() {
		name, claim := claimTemplate+"-"+pod.Name, &corev1.PersistentVolumeClaim{}
		if f.claims[name] != nil {
			continue
		}
		if err := r.Live.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: name}, claim); err == nil {
			f.claims[name] = claim
		}
	}
}

// observeClasses asks whether claims that are too small can grow. Those of a class that cannot be read wait.
func (r *reconciler) observeClasses(ctx context.Context, d *opsv1.Diva, f *facts) {
	rigid, unread := r.classes.Rigid(ctx, f.growingClasses(d))
	maps.Copy(rigid, unread)
	f.rigid = rigid
}
