// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// expected is a claim that there is to be.
type expected struct {
	name    string
	storage opsv1.Storage
}

// unnumbered is how many claims are not of clients; they stand before those.
const unnumbered = 2

// expectedClaims lists the claims that there are to be, those of the clients in their order.
func expectedClaims(d *opsv1.Diva) []expected {
	out := []expected{{managers(d).Name, d.Spec.Manager.Storage}, {extraClaim(d), d.Spec.Extra.Storage}}
	for i := range d.Spec.Client.Replicas {
		out = append(out, expected{clientClaim(d, i), d.Spec.Client.Storage})
	}
	return out
}

// pendingClaim is the first that has no volume.
func (f facts) pendingClaim(d *opsv1.Diva) *corev1.PersistentVolumeClaim {
	for _, e := range expectedClaims(d) {
		if claim := f.claims[e.name]; claim != nil && claim.Status.Phase != corev1.ClaimBound && claim.Status.Phase != corev1.ClaimLost {
			return claim
		}
	}
	return nil
}

// reportStorage tells the first thing that is in the way: what may need a hand goes first.
func reportStorage(set condition.Set, d *opsv1.Diva, f facts) {
	const kind = opsv1.DivaStorageReady
	all := expectedClaims(d)
	d.Status.Storage = f.storageStatus(d)
	for _, look := range []struct {
		reason string
		why    func(expected, *corev1.PersistentVolumeClaim) string
	}{{opsv1.ReasonClaimLost, lost}, {opsv1.ReasonClaimTerminating, f.terminating}, {opsv1.ReasonClaimDiffers, differs}, {opsv1.ReasonCannotGrow, func(e expected, claim *corev1.PersistentVolumeClaim) string { return f.stuck(d, e, claim) }}} {
		for _, e := range all {
			if claim := f.claims[e.name]; claim != nil && look.why(e, claim) != "" {
				set.False(kind, look.reason, look.why(e, claim))
				return
			}
		}
	}
	f.reportVolumes(set, d, all)
}

// reportVolumes says how far the volumes are.
func (f facts) reportVolumes(set condition.Set, d *opsv1.Diva, all []expected) {
	const kind = opsv1.DivaStorageReady
	n, growing := 0, ""
	for _, e := range all {
		switch claim := f.claims[e.name]; {
		case claim == nil || !workload.HasVolume(claim):
			continue
		case growing == "":
			growing = f.grows(d, e, claim)
		}
		n++
	}
	why := f.unbound.Words
	if why != "" {
		why = "; " + f.pendingClaim(d).Name + ": " + why
	}
	why += f.small(all)
	switch {
	case n < len(all) && why != "":
		set.False(kind, opsv1.ReasonClaimsPending, fmt.Sprintf("%d of %d claims have a volume%s", n, len(all), why))
	case n < len(all):
		applying(set, kind, fmt.Sprintf("Not all %d claims have a volume yet", len(all))) // how many have would be a status for each
	case growing != "":
		set.False(kind, opsv1.ReasonGrowing, growing)
	case remade(d) != "":
		set.True(kind, opsv1.ReasonClaimRemade, fmt.Sprintf("All %d claims have their volumes; %s", len(all), remade(d)))
	default:
		set.True(kind, opsv1.ReasonBound, fmt.Sprintf("All %d claims have their volumes", len(all)))
	}
}

// small reports the first claim that is to have another size and cannot, having no volume.
func (f facts) small(all []expected) string {
	for _, e := range all {
		claim, wanted := f.claims[e.name], size(e.storage)
		if claim == nil || claim.Status.Phase == corev1.ClaimLost || workload.HasVolume(claim) {
			continue
		}
		switch has := workload.Asked(claim); has.Cmp(wanted) {
		case 1:
			return fmt.Sprintf("; claim %[1]s has no volume yet and keeps %[2]s: delete it, and it is made anew with %[3]s", e.name, has.String(), wanted.String())
		case -1:
			return fmt.Sprintf("; claim %[1]s has no volume yet and keeps %[2]s: it grows when it has one, or delete it, and it is made anew with %[3]s", e.name, has.String(), wanted.String())
		}
	}
	return ""
}

func lost(_ expected, claim *corev1.PersistentVolumeClaim) string {
	if claim.Status.Phase != corev1.ClaimLost {
		return ""
	}
	return fmt.Sprintf("claim %s has lost its volume %s", claim.Name, claim.Spec.VolumeName)
}

// differs reports a claim that is left from an earlier Diva and of another class, or that
// cannot be where it is to be.
func differs(e expected, claim *corev1.PersistentVolumeClaim) string {
	const many = corev1.ReadWriteMany
	class, is := workload.ClassOf(claim), ""
	switch {
	case class != e.storage.ClassName:
		is = fmt.Sprintf("of class %q, not %q", class, e.storage.ClassName)
	case accessMode(e.storage) == many && !slices.Contains(claim.Spec.AccessModes, many):
		is = fmt.Sprintf("%s, not %s", claim.Spec.AccessModes, many)
	default:
		return ""
	}
	return fmt.Sprintf("claim %s was there before and is %s; it is used as it is. Make a Diva of this name anew that asks for what it is (the data stays while deletionPolicy is Retain), or delete the claim and its data", claim.Name, is)
}

// stuck reports a claim that cannot have what is asked for, and how that is taken back.
func (f facts) stuck(d *opsv1.Diva, e expected, claim *corev1.PersistentVolumeClaim) string {
	asks, has, wanted := workload.Asked(claim), workload.Capacity(claim), size(e.storage)
	words, final := workload.ResizeRefused(claim)
	switch why := f.rigid[workload.ClassOf(claim)]; {
	case !workload.HasVolume(claim):
	case why != "" && asks.Cmp(wanted) < 0:
		return fmt.Sprintf("claim %s stays at %s and not %s: %s%s", claim.Name, asks.String(), wanted.String(), why, f.wayBack(d, e))
	case final && pending(claim) && wanted.Cmp(has) > 0:
		return fmt.Sprintf("claim %s stays at %s and not %s: %s%s", claim.Name, has.String(), asks.String(), words, f.wayBack(d, e))
	case pending(claim) && asks.Cmp(wanted) > 0 && wanted.Cmp(has) <= 0 && f.weAsked[claim.Name]:
		return fmt.Sprintf("claim %s has %s and asks for %s yet: Kubernetes lets it ask for less only if that is more than it has; write %dGi", claim.Name, has.String(), asks.String(), has.Value()/gi+1)
	}
	return ""
}

// grows says how far a volume is from what is asked for.
func (f facts) grows(d *opsv1.Diva, e expected, claim *corev1.PersistentVolumeClaim) string {
	is := workload.Resizing(claim, size(e.storage))
	if words, _ := workload.ResizeRefused(claim); is != "" && words != "" {
		is += f.wayBack(d, e)
	}
	return is
}
