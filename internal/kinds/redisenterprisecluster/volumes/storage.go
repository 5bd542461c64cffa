// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// Storage describes the volumes of the pods' claims.
type Storage struct {
	// Volumes are the volumes of the claims that should exist, in the order of the pods. An entry is nil if its claim
	// does not exist or is being deleted.
	workload.Volumes
	// MayReturn holds the pods whose claims may still have data, including claims that could not be read.
	MayReturn map[string]bool
	// Inherited is how many pods an earlier cluster of the same name had; 0 once this cluster is formed.
	Inherited int32
	// unwatched is true if any claim has lost opcrew's labels. opcrew then receives no events about that claim.
	unwatched bool
}

// Reader reads volume claims and their storage classes.
type Reader struct {
	Cached, Live client.Reader
	Classes      *workload.Classes
	Children     *ensure.Applier
}

// Claims lists the volume claims of a cluster that are in the cache.
func (r Reader) Claims(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster) ([]corev1.PersistentVolumeClaim, error) {
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Cached.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels(desired.Selector(c))); err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	return list.Items, nil
}

// Inherited returns how many pods an earlier cluster of the same name had; 0 once this cluster is formed.
func Inherited(c *redisv1alpha1.RedisEnterpriseCluster, claims []corev1.PersistentVolumeClaim) int32 {
	if !desired.Persistent(c) || observed.Formed(c) {
		return 0
	}
	return inherited(c, claims)
}

// Storage collects the volume claims of the pods, and reads the storage classes of claims that are too small. c has the
// volume settings that its pods were created with.
func (r Reader) Storage(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, pods observed.Pods, claims []corev1.PersistentVolumeClaim) Storage {
	s := Storage{Volumes: workload.Volumes{Patched: map[string]bool{}}, MayReturn: map[string]bool{}}
	if p := c.Spec.PersistentSpec; p.EnablePersistentVolumeResize.Or(false) && p.VolumeSize != "" {
		s.Wanted = p.VolumeSize.Quantity()
	}
	for i, name := range pods.Names {
		claim := r.claim(ctx, &s, client.ObjectKey{Namespace: c.Namespace, Name: name}, pods, i, claims)
		if s.Claims = append(s.Claims, claim); claim != nil {
			s.Patched[claim.Name] = r.Children.Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
		}
	}
	s.Rigid, s.Unread = r.Classes.Rigid(ctx, s.SmallClasses())
	return s
}

// claim returns the volume claim of a pod. If the pod has a node or is gone, and the cache does not have its claim,
// claim reads the volume claim from the API server.
func (r Reader) claim(ctx context.Context, s *Storage, pod client.ObjectKey, pods observed.Pods, i int, claims []corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	key := client.ObjectKey{Namespace: pod.Namespace, Name: desired.DataVolume + "-" + pod.Name}
	claim, p := named(key.Name, claims), pods.ByOrdinal[i]
	s.MayReturn[pod.Name] = mayHoldData(claim, p)
	switch {
	case claim != nil || p == nil:
	case p.Spec.NodeName != "":
		claim, _ = r.unlabelled(ctx, key)
		s.unwatched = s.unwatched || claim != nil
	case observed.Gone(p, pods.Persistent, pods.Now):
		found, err := r.unlabelled(ctx, key)
		s.MayReturn[pod.Name] = err != nil || mayHoldData(found, p)
	}
	return claim
}

func named(name string, claims []corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	i := slices.IndexFunc(claims, func(claim corev1.PersistentVolumeClaim) bool {
		return claim.Name == name && claim.DeletionTimestamp == nil
	})
	if i < 0 {
		return nil
	}
	return &claims[i]
}

// unlabelled reads a claim from the API server, because the cache lacks claims without opcrew's labels, such as claims
// restored from a backup. It returns nil if the claim does not exist or is being deleted.
func (r Reader) unlabelled(ctx context.Context, key client.ObjectKey) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.Live.Get(ctx, key, claim); err != nil || claim.DeletionTimestamp != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return claim, nil
}
