// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"strings"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Hopeless reports whether so many voters are lost that the quorum cannot come back by itself.
func Hopeless(members []model.Member) bool {
	return Alive(members) < int(model.Voters(members))/2+1 && AnyLost(members)
}

// Alive counts the voters that run or may come back.
func Alive(members []model.Member) int {
	n := 0
	for _, m := range members {
		if m.Voter() && m.Lost == "" {
			n++
		}
	}
	return n
}

// AnyLost reports whether any member is lost.
func AnyLost(members []model.Member) bool {
	for _, m := range members {
		if m.Lost != "" {
			return true
		}
	}
	return false
}

// Unproven explains why the loss of the quorum is not proven: lost members may still run on machines that are cut off,
// and form a quorum there. It returns "" if too few members may still run to form a quorum.
func Unproven(members []model.Member) string {
	gone, doubts := 0, []string{}
	for _, m := range members {
		if !m.Voter() || m.Lost == "" {
			continue
		}
		if doubt := m.MayRun(); doubt != "" {
			doubts = append(doubts, m.Name+": "+doubt)
			continue
		}
		gone++
	}
	voters := int(model.Voters(members))
	if voters-gone < voters/2+1 {
		return ""
	}
	return "proof that a majority of the members no longer runs; " + strings.Join(doubts, "; ")
}
