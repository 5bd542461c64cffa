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

// AwaitHealthy waits until etcd reports that all members are healthy. It comes before the rule that adds a member.
func AwaitHealthy(in *Input) steps.Verdict { return in.await(model.Member.Well) }

// AwaitReady waits until the kubelets too report that all members are ready. It comes before the rules that remove or
// stop a member, because clients rely on the other members. While a member is out of space, no pod is ready, and the
// change may make room; then it is enough that etcd reports healthy members.
func AwaitReady(in *Input) steps.Verdict {
	full := slices.ContainsFunc(in.View.Alarms(), func(a etcd.Alarm) bool { return a.Kind == etcd.AlarmNoSpace })
	if full {
		return in.await(model.Member.Well)
	}
	return in.await(model.Member.Ready)
}

// await waits for the first member that fails the check, or does not run the version of its pod.
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
