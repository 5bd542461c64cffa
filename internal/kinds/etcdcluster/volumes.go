// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// observeVolumes collects the claims that should have the spec's size, and reads the StorageClasses of claims that are
// too small. It skips the claim of a member that will be replaced, as the successor gets a new claim.
func (r *reconciler) observeVolumes(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if !model.Persistent(c) {
		return nil
	}
	f.volumes = workload.Volumes{Wanted: volumes.Size(c), Patched: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(f.claims)) {
		claim := f.claims[name]
		if claim.DeletionTimestamp != nil || volumes.Differs(c, claim) != "" {
			continue
		}
		f.volumes.Claims = append(f.volumes.Claims, claim)
		f.volumes.Patched[name] = r.Children.Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
	}
	f.volumes.Rigid, f.volumes.Unread = r.classes.Rigid(ctx, f.volumes.SmallClasses())
	return nil
}

// resizeVolumes returns the patches that change claims to the spec's size. All other changes go on without waiting for
// these patches.
func (p planner) resizeVolumes() []kit.Patch {
	return slices.Concat(p.volumes.Growth(), p.volumes.Withdrawn())
}
