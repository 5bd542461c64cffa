// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rotation decides when the key ring of a Diva changes, one step at a time, and reports the progress. It does
// no I/O. Package ring defines key rings and the files that pods get from them.
//
// A key change has three steps, so that no login fails: client pods accept the new key in addition to the old key, the
// manager pods log in with the new key, and client pods stop accepting the old key. Each step waits until all pods
// serve the files of the previous step.
package rotation

import (
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// rule returns the key ring that the Secret should hold next, or false if the rule does not apply.
type rule func(*opsv1.Diva, Input) (*ring.Ring, bool)

// rules are tried in this order. The first rule that applies decides.
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

// Next returns the key ring that the Secret should hold. It differs from the current content by at most one step. Next
// returns nil while no key pair can be created.
func Next(d *opsv1.Diva, in Input) *ring.Ring {
	for _, rule := range rules {
		if next, applies := rule(d, in); applies {
			return next
		}
	}
	return in.Ring
}
