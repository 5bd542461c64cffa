// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/workload"
)

// madeTogether is how much older than its pod a claim is at most that was made with it.
const madeTogether = 10 * time.Second

// storage is what the claims of the pods tell of their volumes.
type storage struct {
	// Volumes are those of the claims that there are to be, in the order of the pods, and nil where there is none, or one that
	// is going.
	workload.Volumes
	// kept are the pods whose claims may hold what they had, so that it comes back with them. One that cannot be read may.
	kept map[string]bool
	// unwatched reports that one has lost its labels, so that its changes wake no one.
	unwatched bool
}

// observeClaims reads the claims: those that an earlier cluster of the name has left, before this one is formed, and
// those of the pods.
func (r *reconciler) observeClaims(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) error {
	asMade := f.asMade(c)
	if !persistent(c) && !persistent(asMade) {
		return nil
	}
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Client.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels(selector(c))); err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	if persistent(c) && !formed(c) {
		f.inherited = inherited(c, list.Items)
	}
	if persistent(asMade) {
		f.storage = r.observeStorage(ctx, asMade, *f, list.Items)
	}
	return nil
}

// observeStorage finds the claims of the pods, and asks of the classes of those that are too small.
func (r *reconciler) observeStorage(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f facts, all []corev1.PersistentVolumeClaim) storage {
	s := storage{Volumes: workload.Volumes{Patched: map[string]bool{}}, kept: map[string]bool{}}
	if p := c.Spec.PersistentSpec; p.EnablePersistentVolumeResize.Or(false) && p.VolumeSize != "" {
		s.Wanted = p.VolumeSize.Quantity()
	}
	for _, pod := range identity(c).Names(f.current(c)) {
		name := dataVolume + "-" + pod
		claim := claimNamed(name, all)
		p := f.Pods[pod]
		s.kept[pod] = mayHold(claim, p)
		switch {
		case claim != nil || p == nil:
		case p.Spec.NodeName != "":
			claim, _ = r.unlabelled(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name})
			s.unwatched = s.unwatched || claim != nil
		case f.gone(c, p):
			found, err := r.unlabelled(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name})
			s.kept[pod] = err != nil || mayHold(found, p)
		}
		if s.Claims = append(s.Claims, claim); claim != nil {
			s.Patched[name] = r.Writes().Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
		}
	}
	s.Rigid, s.Unread = r.classes.Rigid(ctx, s.SmallClasses())
	return s
}

func claimNamed(name string, all []corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	i := slices.IndexFunc(all, func(claim corev1.PersistentVolumeClaim) bool {
		return claim.Name == name && claim.DeletionTimestamp == nil
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}

// unlabelled reads a claim that a pod runs with and the cache does not have: one that the user has put back from a backup
// has none of our labels. What cannot be read is unknown.
func (r *reconciler) unlabelled(ctx context.Context, key client.ObjectKey) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.Live.Get(ctx, key, claim); err != nil || claim.DeletionTimestamp != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return claim, nil
}

// mayHold reports whether a claim has a volume that may have been written to, and that is not known to be lost. One that was
// provisioned for a claim made with a pod that has had no node since is empty: the StatefulSet's controller makes claims just
// before their pod, and again while that waits, and not all classes wait for its node.
func mayHold(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	if claim == nil || claim.Spec.VolumeName == "" || claim.Status.Phase == corev1.ClaimLost {
		return false
	}
	before := pod == nil || pod.Spec.NodeName != "" || claim.CreationTimestamp.Add(madeTogether).Before(pod.CreationTimestamp.Time)
	return before || !madeEmpty(claim)
}

// madeEmpty reports whether the volume of a claim was provisioned for it, with nothing in it: provisioners name volumes after the
// claim's UID (external-provisioner, --volume-name-prefix). A claim that was restored or written by hand has another one,
// whatever its annotations say, and so has one that was bound to a volume that there was.
func madeEmpty(claim *corev1.PersistentVolumeClaim) bool {
	return claim.UID != "" && strings.HasSuffix(claim.Spec.VolumeName, string(claim.UID)) &&
		claim.Spec.DataSource == nil && claim.Spec.DataSourceRef == nil
}
