// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"time"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/rotation"
	"github.com/opcrew/opcrew/internal/kit"
)

// planAt returns the plan for the given facts at the given time.
func planAt(object *opsv1.Diva, f facts, now time.Time) kit.Plan {
	r := &reconciler{}
	return r.Plan(object, f, r.Decide(object, f, now))
}

// reportAt fills in the status for the given facts and outcome at the given time.
func reportAt(object *opsv1.Diva, f facts, done kit.Outcome, now time.Time) {
	r := &reconciler{}
	done.Now = now
	r.Report(object, f, r.Decide(object, f, now), done)
}

// nextRing returns the key ring that the Secret should hold next.
func nextRing(object *opsv1.Diva, f facts) *ring.Ring {
	return rotation.Next(object, rotationInput(object, f, noon))
}

// podsOf returns the pods that a key change must consider, as Plan passes them to package rotation.
func podsOf(d *opsv1.Diva, f facts) rotation.Pods { return rotationInput(d, f, noon).Pods }
