// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package membership decides which members are promoted, replaced, added and removed once the first members have formed
// the cluster. Each rule is a function of Input in its own file. Package rollout decides about versions and settings,
// package upkeep about the members' data.
package membership

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// repair lists the rules for members that are joining or lost. They come before all other changes.
var repair = []rule{joining, replaceLost}

// Repair decides about members that are joining or lost.
func Repair(in *Input) steps.Verdict { return steps.First(in, repair...) }
