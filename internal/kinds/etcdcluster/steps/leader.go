// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// TransferLeaderFirst returns a step that transfers leadership to another voter if the member is the leader, and otherwise
// the given step.
func TransferLeaderFirst(view etcd.View, members []model.Member, m model.Member, then *Step) *Step {
	leader, known := view.Leader()
	if !known || leader != m.ID {
		return then
	}
	for _, other := range members {
		if other.ID != m.ID && other.Voter() && other.Healthy {
			return MoveLeader(m, other)
		}
	}
	return then
}
