// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/workload"
)

// silentAfter is how long a learner whose pod is ready may fail to answer. After it has received a snapshot, a learner
// serves clients only once it has published its address. If publishing fails, etcd tries again after some seconds
// (etcd: publishV3).
const silentAfter = 2 * time.Minute

// joining decides about each added member that does not vote yet: it promotes the member, or removes it if it cannot
// join. A learner that is slow does not block other rules, such as the replacement of a lost member.
func joining(in *Input) steps.Verdict {
	for _, m := range in.Members {
		if m.Voter() && m.Started {
			continue
		}
		if step := in.join(m); step != nil {
			return steps.Verdict{Step: step}
		}
	}
	return steps.Verdict{}
}

func (in *Input) join(m model.Member) *steps.Step {
	switch {
	case m.Lost != "":
		return steps.Remove(m, m.Lost)
	case m.Learner && in.count() > in.limit():
		return steps.Remove(m, "the cluster has more members than desired now")
	case m.Learner && (m.Outdated || m.ClaimDiffers != ""):
		return steps.Remove(m, "its pod or its claim was created for an earlier spec")
	case m.Learner && in.isSilent(m):
		return steps.Remove(m, fmt.Sprintf("its pod has been ready for %s, but its etcd does not respond", silentAfter))
	// A learner that has received a snapshot may need some seconds until it is healthy (etcd: publishV3).
	case m.Started && m.Healthy && m.IsEstablished():
		return steps.Promote(m)
	}
	return nil
}

// isSilent reports whether a learner must be replaced because it does not answer. Its removal is safe, as a learner has
// no data that the voters lack.
func (in *Input) isSilent(m model.Member) bool {
	if !m.Asked || m.Answers || m.Pod == nil || !workload.Ready(m.Pod) {
		return false
	}
	return in.Now.Sub(workload.ReadyChanged(m.Pod)) >= silentAfter
}

// limit returns the largest allowed number of members: the desired number, or one more while a successor joins.
func (in *Input) limit() int32 {
	if in.supersedes() {
		return in.Size + 1
	}
	return in.Size
}
