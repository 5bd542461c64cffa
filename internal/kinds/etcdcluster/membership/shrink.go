// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// preferences rank the members for removal. The first preference in which two members differ decides; the member with
// the higher rank is removed.
var preferences = []func(model.Member) int64{superseded, cordoned, outdated, newest}

// superseded prefers to remove members that must be replaced anyway.
func superseded(m model.Member) int64 { return rank(m.Superseded) }

// cordoned prefers to remove members on cordoned nodes, which may soon be drained. It has priority over outdated: if a
// member with a local volume on a cordoned node stayed, and opcrew recreated its outdated pod, the new pod could not be
// scheduled.
func cordoned(m model.Member) int64 { return rank(m.Node != nil && m.Node.Cordoned) }

// outdated prefers to remove members whose pods must be recreated.
func outdated(m model.Member) int64 { return rank(m.Outdated && !m.Superseded) }

func newest(m model.Member) int64 { return m.Serial }

func rank(preferred bool) int64 {
	if preferred {
		return 1
	}
	return 0
}

// Shrink removes a member if there are too many. If the member is the leader, it first transfers leadership.
func Shrink(in *Input) steps.Verdict {
	if in.KeepSize || in.count() <= in.Size {
		return steps.Verdict{}
	}
	m := slices.MaxFunc(in.Members, func(a, b model.Member) int {
		for _, rank := range preferences {
			if order := cmp.Compare(rank(a), rank(b)); order != 0 {
				return order
			}
		}
		return 0
	})
	why := "the cluster has more members than desired"
	if cordoned(m) > 0 {
		why += "; its node is cordoned"
	}
	if m.ClaimDiffers != "" {
		why += "; " + m.ClaimDiffers
	}
	return steps.Verdict{Step: steps.TransferLeaderFirst(in.View, in.Members, m, steps.Remove(m, why))}
}
