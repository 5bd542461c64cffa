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

// classInterval passes between two looks at a StorageClass that lets no volume grow: it is not watched.
const classInterval = time.Minute

// storage is what the claims of the pods tell of their volumes.
type storage struct {
	// wanted is how large each is to be, where they are to grow; zero where they stay as they are.
	wanted resource.Quantity
	// claims are those that there are to be, in the order of the pods, and nil where there is none.
	claims []*corev1.PersistentVolumeClaim
	// patched are claims that the cache is behind of.
	patched map[string]bool
	// rigid are the classes that let no volume grow, and why.
	rigid map[string]string
}

// observeStorage reads the claims of the pods, and asks of the classes of those that are too small.
func (r *reconciler) observeStorage(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f facts) (storage, error) {
	out := storage{patched: map[string]bool{}}
	spec, err := read(c, f.images)
	if !persistent(c) || err != nil {
		return out, nil
	}
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Client.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels(selector(c))); err != nil {
		return out, fmt.Errorf("list claims: %w", err)
	}
	if c.Spec.PersistentSpec.EnablePersistentVolumeResize.Or(false) {
		out.wanted = spec.volume
	}
	for _, pod := range identity(c).Names(f.kept(c)) {
		claim := claimNamed(dataVolume+"-"+pod, list.Items)
		if out.claims = append(out.claims, claim); claim != nil {
			out.patched[claim.Name] = r.Writes().Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
		}
	}
	out.rigid = workload.Rigid(ctx, r.Live, classesOf(out.small()))
	return out, nil
}

// kept is how many pods have a claim that is in use, or will be when they wake.
func (f facts) kept(c *redisv1alpha1.RedisEnterpriseCluster) int32 {
	if n := f.Replicas(); n > 0 {
		return n
	}
	return c.Status.Nodes
}

func claimNamed(name string, all []corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	for i := range all {
		if all[i].Name == name && all[i].DeletionTimestamp == nil {
			return &all[i]
		}
	}
	return nil
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

// small are the claims that have yet to ask for more.
func (s storage) small() []*corev1.PersistentVolumeClaim {
	return slices.DeleteFunc(s.bound(), func(claim *corev1.PersistentVolumeClaim) bool {
		asks := workload.Asked(claim)
		return asks.Cmp(s.wanted) >= 0
	})
}

// growth are the patches by which claims ask for more. Who has asked for more yet by hand is left alone.
func (s storage) growth() []kit.Patch {
	var out []kit.Patch
	for _, claim := range s.small() {
		if !s.patched[claim.Name] && s.rigid[workload.ClassOf(claim)] == "" {
			out = append(out, workload.Resize(claim, s.wanted))
		}
	}
	return out
}

// stays tells of the first volume that cannot have what is asked for; "" where all can.
func (s storage) stays() string {
	for _, claim := range s.bound() {
		asks, has := workload.Asked(claim), workload.Capacity(claim)
		why, final := workload.ResizeRefused(claim)
		if rigid := s.rigid[workload.ClassOf(claim)]; rigid != "" && asks.Cmp(s.wanted) < 0 {
			why, final, has = rigid, true, asks
		}
		if final && has.Cmp(s.wanted) < 0 {
			return fmt.Sprintf("claim %s stays at %s and not %s: %s", claim.Name, has.String(), s.wanted.String(), why)
		}
	}
	return ""
}

// growing tells how far the first volume is that has yet to grow, and how many have; "" where all have.
func (s storage) growing() (words string, have int) {
	bound := s.bound()
	for _, claim := range bound {
		switch is := workload.Resizing(claim, s.wanted); {
		case is == "":
			have++
		case words == "":
			words = is
		}
	}
	return words, have
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
