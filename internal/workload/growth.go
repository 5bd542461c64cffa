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

// Volumes are the volumes of one data store, all of which are to have the same size.
type Volumes struct {
	// Wanted is how large each is to be; zero where they stay as they are.
	Wanted resource.Quantity
	// Claims are the claims in the order in which messages name them; nil stands for one that is missing.
	Claims []*corev1.PersistentVolumeClaim
	// Patched are the names of claims of which the cache does not show our last patch yet.
	Patched map[string]bool
	// Rigid maps classes that let no volume grow to the reason, Unread those that could not be read: see Classes.
	Rigid, Unread map[string]string
}

// Bound are the claims that have a volume.
func (v Volumes) Bound() []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for _, claim := range v.Claims {
		if claim != nil && HasVolume(claim) {
			out = append(out, claim)
		}
	}
	return out
}

// Small are the claims that have yet to ask for more. A volume may be larger than what was asked for.
func (v Volumes) Small() []*corev1.PersistentVolumeClaim {
	return slices.DeleteFunc(v.Bound(), func(claim *corev1.PersistentVolumeClaim) bool {
		asks, has := Asked(claim), Capacity(claim)
		return asks.Cmp(v.Wanted) >= 0 || has.Cmp(v.Wanted) >= 0
	})
}

// SmallClasses are the classes of the claims that have yet to ask for more, each once.
func (v Volumes) SmallClasses() []string {
	var out []string
	for _, claim := range v.Small() {
		out = append(out, ClassOf(claim))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Growth are the patches by which claims ask for more. A claim that asks for more already is left alone.
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

// Withdrawn are the patches by which claims ask for less again: their driver refused what they ask for, and the size
// was lowered since. Kubernetes admits that as long as a claim still asks for more than its volume has.
func (v Volumes) Withdrawn() []kit.Patch {
	var out []kit.Patch
	for _, claim := range v.Bound() {
		asks, has := Asked(claim), Capacity(claim)
		words, final := ResizeRefused(claim)
		if !v.Patched[claim.Name] && (words != "" || final) && asks.Cmp(v.Wanted) > 0 && v.Wanted.Cmp(has) > 0 {
			out = append(out, Resize(claim, v.Wanted))
		}
	}
	return out
}

// Stuck says which volume cannot have its size, and why; "" where all can.
func (v Volumes) Stuck() string {
	for _, claim := range v.Bound() {
		asks, has := Asked(claim), Capacity(claim)
		if has.Cmp(v.Wanted) >= 0 {
			continue
		}
		if why := v.Rigid[ClassOf(claim)]; why != "" && asks.Cmp(v.Wanted) < 0 {
			return fmt.Sprintf("claim %s stays at %s and not %s: %s", claim.Name, has.String(), v.Wanted.String(), why)
		}
		if why, final := ResizeRefused(claim); final {
			return fmt.Sprintf("claim %s has %s and not the %s that it asks for: %s", claim.Name, has.String(), asks.String(), why)
		}
	}
	return ""
}

// Larger is the first claim that asks for more than its size and has it; nil where there is none. Volumes never shrink.
func (v Volumes) Larger() *corev1.PersistentVolumeClaim {
	for _, claim := range v.Bound() {
		asks, has := Asked(claim), Capacity(claim)
		if asks.Cmp(v.Wanted) > 0 && has.Cmp(v.Wanted) > 0 {
			return claim
		}
	}
	return nil
}

// Growing says how far the first volume is that has yet to grow, "" where all have, and how many have.
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

// Again is when to look again without an event: soon where a class could not be read, and after ClassInterval where a
// class lets no volume grow. 0 is never: claims are watched.
func (v Volumes) Again(soon time.Duration) time.Duration {
	switch {
	case len(v.Unread) > 0:
		return soon
	case len(v.Rigid) > 0:
		return ClassInterval
	}
	return 0
}
