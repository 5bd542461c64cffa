// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// replaceLost removes a voter that cannot come back. Its successor is added only afterwards: with both in the cluster,
// one more failure could cost the quorum.
func replaceLost(in *Input) steps.Verdict {
	for _, m := range in.Members {
		switch {
		case m.Lost == "":
		case !in.survives(m):
			return steps.Verdict{Waits: "a quorum of healthy voters, which is needed to replace " + m.Name}
		default:
			return steps.Verdict{Step: steps.Remove(m, m.Lost)}
		}
	}
	return steps.Verdict{}
}

// survives reports whether enough voters answer for a quorum, both to remove the voter and after its removal.
func (in *Input) survives(m model.Member) bool {
	healthy, left := in.View.HealthyVoters(), len(in.View.Voters())-1
	without := healthy
	if m.Healthy {
		without--
	}
	return healthy >= in.View.Quorum() && without >= left/2+1
}
