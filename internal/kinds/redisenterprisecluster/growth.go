// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// storage is what the claims of the pods tell of their volumes.
type storage struct {
	// wanted is how large each is to be, where they are to grow; zero where they stay as they are.
	wanted resource.Quantity
	// claims are those that there are to be, in the order of the pods, and nil where there is none, or one that is going.
	claims []*corev1.PersistentVolumeClaim
	// unwatched tells that one has lost its labels, so that its changes wake nobody.
	unwatched bool
	// patched are claims that the cache is behind of.
	patched map[string]bool
	// rigid are the classes that let no volume grow, and unread those of which that is not known, and why.
	rigid, unread map[string]string
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
	s := storage{patched: map[string]bool{}}
	if p := c.Spec.PersistentSpec; p.EnablePersistentVolumeResize.Or(false) && p.VolumeSize != "" {
		s.wanted = p.VolumeSize.Quantity()
	}
	for _, pod := range identity(c).Names(f.current(c)) {
		name := dataVolume + "-" + pod
		claim := claimNamed(name, all)
		if claim == nil && f.Pods[pod] != nil && f.Pods[pod].Spec.NodeName != "" {
			claim = r.unlabelled(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name})
			s.unwatched = s.unwatched || claim != nil
		}
		if s.claims = append(s.claims, claim); claim != nil {
			s.patched[name] = r.Writes().Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
		}
	}
	s.rigid, s.unread = r.classes.Rigid(ctx, classesOf(s.small()))
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
func (r *reconciler) unlabelled(ctx context.Context, key client.ObjectKey) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.Live.Get(ctx, key, claim); err != nil || claim.DeletionTimestamp != nil {
		return nil
	}
	return claim
}

func classesOf(claims []*corev1.PersistentVolumeClaim) []string {
	var out []string
	for _, claim := range claims {
		out = append(out, workload.ClassOf(claim))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bound are the claims that have a volume.
func (s storage) bound() []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for _, claim := range s.claims {
		if claim != nil && workload.HasVolume(claim) {
			out = append(out, claim)
		}
	}
	return out
}

// small are the claims that have yet to ask for more. A volume may be larger than what was asked for.
func (s storage) small() []*corev1.PersistentVolumeClaim {
	return slices.DeleteFunc(s.bound(), func(claim *corev1.PersistentVolumeClaim) bool {
		asks, has := workload.Asked(claim), workload.Capacity(claim)
		return asks.Cmp(s.wanted) >= 0 || has.Cmp(s.wanted) >= 0
	})
}

// growth are the patches by which claims ask for more. Who has asked for more yet by hand is left alone.
func (s storage) growth() []kit.Patch {
	var out []kit.Patch
	for _, claim := range s.small() {
		class := workload.ClassOf(claim)
		if !s.patched[claim.Name] && s.rigid[class] == "" && s.unread[class] == "" {
			out = append(out, workload.Resize(claim, s.wanted))
		}
	}
	return out
}

// stays tells of the first volume that cannot have what is asked for; "" where all can.
func (s storage) stays() string {
	const wayOut = "; with enablePersistentVolumeResize: false volumes stay as they are"
	for _, claim := range s.bound() {
		asks, has := workload.Asked(claim), workload.Capacity(claim)
		if has.Cmp(s.wanted) >= 0 {
			continue
		}
		if why := s.rigid[workload.ClassOf(claim)]; why != "" && asks.Cmp(s.wanted) < 0 {
			return fmt.Sprintf("claim %s stays at %s and not %s: %s%s", claim.Name, has.String(), s.wanted.String(), why, wayOut)
		}
		if why, final := workload.ResizeRefused(claim); final {
			return fmt.Sprintf("claim %s has %s and not the %s that it asks for: %s%s", claim.Name, has.String(), asks.String(), why, wayOut)
		}
	}
	return ""
}

// growing tells how far the first volume is that has yet to grow, and how many have; "" where all have.
func (s storage) growing() (words string, have int) {
	for _, claim := range s.bound() {
		switch is := workload.Resizing(claim, s.wanted); {
		case is == "":
			have++
		case words == "":
			words = is
			if why := s.unread[workload.ClassOf(claim)]; why != "" {
				words += ": " + why
			}
		}
	}
	return words, have
}

// again is when to look again by itself while volumes are to grow; 0 is never.
func (s storage) again() time.Duration {
	growing, _ := s.growing()
	switch {
	case len(s.unread) > 0, s.unwatched && growing != "":
		return underWay
	case len(s.rigid) > 0:
		return workload.ClassInterval
	}
	return 0
}

// status is how far they are, in the vendor's words; nil where there are to be none.
func (s storage) status() *redisv1alpha1.PersistenceStatus {
	if len(s.claims) == 0 {
		return nil
	}
	growing, have := s.growing()
	is := redisv1alpha1.VolumesProvisioned
	switch {
	case s.stays() != "":
		is = redisv1alpha1.VolumesResizeFailed
	case growing != "":
		is = redisv1alpha1.VolumesResizing
	case len(s.bound()) < len(s.claims):
		is = redisv1alpha1.VolumesProvisioning
	}
	return &redisv1alpha1.PersistenceStatus{Status: is, Succeeded: fmt.Sprintf("%d/%d", have, len(s.claims))}
}
