// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

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
