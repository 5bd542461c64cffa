// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package membership decides which members of a formed cluster are promoted, replaced, added and removed. Each rule is
// a function of Input in its own file. Package rollout decides what members run; package upkeep maintains their data.
package membership

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// repair handles members that join and members that are lost. It comes before all other changes.
var repair = []rule{joining, replaceLost}

// Repair decides about members that join and members that are lost.
func Repair(in *Input) steps.Verdict { return steps.First(in, repair...) }
