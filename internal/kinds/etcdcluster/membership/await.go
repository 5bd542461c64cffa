// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// AwaitHealthy waits until etcd reports all members as healthy. opcrew checks this before it adds a member.
func AwaitHealthy(in *Input) steps.Verdict { return in.await(model.Member.Well) }

// AwaitReady waits until the kubelets report all pods as ready, because only ready pods serve clients. opcrew checks
// this before it removes or restarts a member. While etcd raises the alarm NOSPACE, healthy members may be unready, and
// the removal or restart may free space. So AwaitReady then waits only until the members are healthy.
func AwaitReady(in *Input) steps.Verdict {
	full := slices.ContainsFunc(in.View.Alarms(), func(a etcd.Alarm) bool { return a.Kind == etcd.AlarmNoSpace })
	if full {
		return in.await(model.Member.Well)
	}
	return in.await(model.Member.Ready)
}

// await waits for the first member for which enough returns false, or whose etcd version differs from the one that its
// pod specifies.
func (in *Input) await(enough func(model.Member) bool) steps.Verdict {
	for _, m := range in.Members {
		if enough(m) && m.Version == model.VersionOf(m.Pod) {
			continue
		}
		end := "be healthy"
		if m.Learner || !m.Started {
			end = "join"
		}
		return steps.Verdict{Waits: fmt.Sprintf("%s to %s%s", m.Name, end, m.WhyNotReady(in.Paused))}
	}
	return steps.Verdict{}
}
