// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage decides about the claims of a Diva: their sizes, owners and labels, and the condition StorageReady.
// It does no I/O. It returns the claims of the manager pods, and patches for the claims that the StatefulSet created.
package storage

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// Decision holds what to do about the claims and what to report.
type Decision struct {
	// TemplateSize is the size of new client pods' claims.
	TemplateSize resource.Quantity
	// Shared reports whether several nodes can mount all volumes of the manager pods at the same time.
	Shared bool
	// Children are the manager pods' claims. Patches change the client pods' claims.
	Children []ensure.Child
	Patches  []kit.Patch
	Status   *opsv1.StorageStatus
	Verdict  Verdict
	// Again lists the times until further reconciles; 0 means never.
	Again []time.Duration
}

// Decide decides about the claims from the input alone, without side effects.
func Decide(in Input) Decision {
	d, status := in.Diva, in.status()
	out := Decision{
		TemplateSize: in.templateSize(),
		Shared:       in.sharable(names.Managers(d).Name, d.Spec.Manager.Storage) && in.sharable(names.ExtraClaim(d), d.Spec.Extra.Storage),
		Children: []ensure.Child{
			in.claim(names.Managers(d).Name, d.Spec.Manager.Storage),
			in.claim(names.ExtraClaim(d), d.Spec.Extra.Storage),
		},
		Status:  status,
		Verdict: in.verdict(Recreated(status)),
		Again:   []time.Duration{reportedFor(status, in.Now)},
	}
	out.Patches = append(out.Patches, in.resizes()...)
	out.Patches = append(out.Patches, in.ownerPatches()...)
	out.Patches = append(out.Patches, in.labelPatches()...)
	if len(in.Rigid) > 0 || out.Verdict.Reason == opsv1.ReasonGrowing { // a claim with labels of others causes no event
		out.Again = append(out.Again, workload.ClassInterval)
	}
	return out
}
