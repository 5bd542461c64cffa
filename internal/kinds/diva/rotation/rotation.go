// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rotation decides when the key ring of a Diva changes, one step at a time, and reports how far a change is.
// It reads and writes nothing. What a ring is, and which files pods get of it, is in package ring.
//
// A change takes three steps, so that no login is refused: clients accept the new key, the manager logs in with it,
// clients no longer accept the previous one. A step waits until all pods serve what the step before wrote.
package rotation

import (
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// rule returns the ring that the Secret is to hold next. It reports false if the next rule decides.
type rule func(*opsv1.Diva, Input) (*ring.Ring, bool)

// rules are tried in this order; the first that applies decides.
var rules = []rule{
	waitForUsableKey,
	begin,
	restoreSeed,
	restoreShared,
	replaceNextPair,
	waitForClients,
	switchManager,
	waitForManagers,
	retirePrevious,
	retireShared,
	startRotation,
	keepPair,
}

// Next returns the ring that the Secret is to hold, at most one step from what it holds; nil while there is no pair.
func Next(d *opsv1.Diva, in Input) *ring.Ring {
	for _, rule := range rules {
		if next, applies := rule(d, in); applies {
			return next
		}
	}
	return in.Ring
}
