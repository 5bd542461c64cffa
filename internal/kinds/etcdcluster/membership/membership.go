// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package membership decides who belongs to a formed cluster: which members are promoted, replaced, added and removed.
//
// Each rule is a function of Input in a file of its own; repair, grow and shrink list them in the order in which they
// are asked. What members run is decided in rollout, and their data in upkeep.
package membership

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// repair comes before all other changes: members that join, and members that are lost.
var repair = []rule{joining, replaceLost}

// grow and shrink bring the number of members to Size.
var (
	grow   = []rule{awaitHealthy, addMember}
	shrink = []rule{awaitReady, removeMember}
)

// Repair decides about members that join and members that are lost.
func Repair(in *Input) steps.Verdict { return steps.First(in, repair...) }

// Grow adds a member if there are too few, once all are healthy.
func Grow(in *Input) steps.Verdict { return steps.First(in, grow...) }

// Shrink removes a member if there are too many, once all are ready.
func Shrink(in *Input) steps.Verdict { return steps.First(in, shrink...) }
