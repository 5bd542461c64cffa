// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rotation decides when the key ring of a Diva changes, one step at a time, and reports the progress. It does
// no I/O. Package ring defines rings and the files that pods get from them.
//
// A change takes three steps, so that no login is refused: clients accept the new key, the manager logs in with it, and
// clients no longer accept the previous key. Each step waits until all pods serve the files of the previous step.
package rotation

import (
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// rule returns the ring that the Secret should hold next, or false if the next rule should decide.
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

// Next returns the ring that the Secret should hold, which is at most one step from its content; nil while there is no
// pair.
func Next(d *opsv1.Diva, in Input) *ring.Ring {
	for _, rule := range rules {
		if next, applies := rule(d, in); applies {
			return next
		}
	}
	return in.Ring
}
