// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

// Verdict is the content of the condition StorageReady.
type Verdict struct {
	Ready           bool
	Reason, Message string
}

// problems are checked in this order, each for all claims. Problems that may require action by the user come first.
var problems = []struct {
	reason string
	find   func(Input, Expected, *corev1.PersistentVolumeClaim) string
}{
	{opsv1.ReasonClaimLost, lost},
	{opsv1.ReasonClaimTerminating, terminating},
	{opsv1.ReasonClaimDiffers, differs},
	{opsv1.ReasonCannotGrow, cannotGrow},
}

// verdict returns the first problem of a claim, or else the number of claims that have volumes.
func (in Input) verdict(recreated string) Verdict {
	all := ExpectedClaims(in.Diva)
	for _, problem := range problems {
		for _, e := range all {
			claim := in.Claims[e.Name]
			if claim == nil {
				continue
			}
			if message := problem.find(in, e, claim); message != "" {
				return Verdict{Reason: problem.reason, Message: message}
			}
		}
	}
	bound, growing := in.progress(all)
	why := in.unboundWords() + in.otherSize(all)
	switch {
	case bound < len(all) && why != "":
		return Verdict{Reason: opsv1.ReasonClaimsPending, Message: fmt.Sprintf("%d of %d claims have a volume%s", bound, len(all), why)}
	case bound < len(all): // a count in the message would cause a status write for each volume
		return Verdict{Reason: common.ReasonApplying, Message: fmt.Sprintf("Not all %d claims have a volume yet", len(all))}
	case growing != "":
		return Verdict{Reason: opsv1.ReasonGrowing, Message: growing}
	case recreated != "":
		return Verdict{true, opsv1.ReasonClaimRemade, fmt.Sprintf("All %d claims are bound to volumes; claims %s", len(all), recreated)}
	}
	return Verdict{true, opsv1.ReasonBound, fmt.Sprintf("All %d claims are bound to volumes", len(all))}
}

// progress returns the number of claims with a volume, and describes the first volume that is growing.
func (in Input) progress(all []Expected) (bound int, growing string) {
	for _, e := range all {
		claim := in.Claims[e.Name]
		if claim == nil || !workload.HasVolume(claim) {
			continue
		}
		bound++
		if growing == "" {
			growing = in.grows(e, claim)
		}
	}
	return bound, growing
}

// grows describes the progress of a volume that is growing; "" if the volume is not growing.
func (in Input) grows(e Expected, claim *corev1.PersistentVolumeClaim) string {
	message := workload.Resizing(claim, Size(e.Storage))
	if words, _ := workload.ResizeRefused(claim); message != "" && words != "" {
		message += in.wayBack(e)
	}
	return message
}

func (in Input) unboundWords() string {
	if in.Unbound == "" {
		return ""
	}
	return "; " + in.FirstUnbound().Name + ": " + in.Unbound
}

// otherSize reports the first claim whose size differs from the spec but cannot change, because the claim has no volume
// yet.
func (in Input) otherSize(all []Expected) string {
	for _, e := range all {
		claim, desired := in.Claims[e.Name], Size(e.Storage)
		if claim == nil || claim.Status.Phase == corev1.ClaimLost || workload.HasVolume(claim) {
			continue
		}
		switch requested := workload.Requested(claim); requested.Cmp(desired) {
		case 1:
			return fmt.Sprintf("; claim %[1]s has no volume yet, so its size of %[2]s cannot change: delete the claim, and it is recreated with %[3]s", e.Name, requested.String(), desired.String())
		case -1:
			return fmt.Sprintf("; claim %[1]s has no volume yet, so its size of %[2]s cannot change: wait until the claim has a volume and grows, or delete the claim, and it is recreated with %[3]s", e.Name, requested.String(), desired.String())
		}
	}
	return ""
}
