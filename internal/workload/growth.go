// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/opcrew/opcrew/internal/kit"
)

// Volumes describes the volumes of one database or store, all of which should have the same size.
type Volumes struct {
	// Wanted is the desired size of each volume; zero if opcrew must not change sizes.
	Wanted resource.Quantity
	// Claims lists the claims in the order in which messages name them. A missing claim is nil.
	Claims []*corev1.PersistentVolumeClaim
	// Patched holds the names of the claims that opcrew has patched but for which the cache does not show the patch
	// yet.
	Patched map[string]bool
	// Rigid and Unread are the results of Classes.Rigid: the reasons why StorageClasses do not let volumes grow, and
	// the errors for classes that could not be read.
	Rigid, Unread map[string]string
}

// Bound returns the claims that have a volume.
func (v Volumes) Bound() []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for _, claim := range v.Claims {
		if claim != nil && HasVolume(claim) {
			out = append(out, claim)
		}
	}
	return out
}

// Small returns the bound claims that request less than the desired size and whose volumes are smaller than that. A
// volume may be larger than its claim requests.
func (v Volumes) Small() []*corev1.PersistentVolumeClaim {
	return slices.DeleteFunc(v.Bound(), func(claim *corev1.PersistentVolumeClaim) bool {
		asks, has := Requested(claim), Capacity(claim)
		return asks.Cmp(v.Wanted) >= 0 || has.Cmp(v.Wanted) >= 0
	})
}

// SmallClasses returns the StorageClasses of the small claims, without duplicates.
func (v Volumes) SmallClasses() []string {
	var out []string
	for _, claim := range v.Small() {
		out = append(out, ClassOf(claim))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Growth returns patches that raise the requests of claims to the desired size. Claims that request more are not
// changed.
func (v Volumes) Growth() []kit.Patch {
	var out []kit.Patch
	for _, claim := range v.Small() {
		class := ClassOf(claim)
		if !v.Patched[claim.Name] && v.Rigid[class] == "" && v.Unread[class] == "" {
			out = append(out, Resize(claim, v.Wanted))
		}
	}
	return out
}

// Withdrawn returns patches for claims that a storage driver failed to enlarge, and that request more than the spec
// does now. The patches lower these requests to the desired size. Kubernetes allows this as long as the request stays
// above the capacity of the volume.
func (v Volumes) Withdrawn() []kit.Patch {
	var out []kit.Patch
	for _, claim := range v.Bound() {
		asks, has := Requested(claim), Capacity(claim)
		words, final := ResizeRefused(claim)
		if !v.Patched[claim.Name] && (words != "" || final) && asks.Cmp(v.Wanted) > 0 && v.Wanted.Cmp(has) > 0 {
			out = append(out, Resize(claim, v.Wanted))
		}
	}
	return out
}

// Stuck returns which volume cannot get the desired size, and why; "" if all can.
func (v Volumes) Stuck() string {
	for _, claim := range v.Bound() {
		asks, has := Requested(claim), Capacity(claim)
		if has.Cmp(v.Wanted) >= 0 {
			continue
		}
		if why := v.Rigid[ClassOf(claim)]; why != "" && asks.Cmp(v.Wanted) < 0 {
			return fmt.Sprintf("claim %s stays at %s instead of %s: %s", claim.Name, has.String(), v.Wanted.String(), why)
		}
		if why, final := ResizeRefused(claim); final {
			return fmt.Sprintf("claim %s has %s instead of the requested %s: %s", claim.Name, has.String(), asks.String(), why)
		}
	}
	return ""
}

// Larger returns the first claim whose volume is larger than the desired size; nil if there is none. Volumes never
// shrink.
func (v Volumes) Larger() *corev1.PersistentVolumeClaim {
	for _, claim := range v.Bound() {
		asks, has := Requested(claim), Capacity(claim)
		if asks.Cmp(v.Wanted) > 0 && has.Cmp(v.Wanted) > 0 {
			return claim
		}
	}
	return nil
}

// Growing describes the first volume that is still growing; "" if there is none. have is the number of volumes that
// have the desired size.
func (v Volumes) Growing() (words string, have int) {
	for _, claim := range v.Bound() {
		switch is := Resizing(claim, v.Wanted); {
		case is == "":
			have++
		case words == "":
			words = is
			if why := v.Unread[ClassOf(claim)]; why != "" {
				words += ": " + why
			}
		}
	}
	return words, have
}

// Again returns how long to wait before the next check: soon if a class could not be read, and ClassInterval if a class
// does not let volumes grow. Otherwise it returns 0: opcrew watches the claims, so every change starts a check.
func (v Volumes) Again(soon time.Duration) time.Duration {
	switch {
	case len(v.Unread) > 0:
		return soon
	case len(v.Rigid) > 0:
		return ClassInterval
	}
	return 0
}
