// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// fromMember plans to recover from the remaining member that has applied the most log entries. All remaining members
// have to answer first, because a silent member may have applied more.
func (in *Input) fromMember(plan *Plan) {
	for _, m := range in.Members {
		switch {
		case !m.Voter() || m.Lost != "":
		case !m.Answers:
			plan.Waits = "member " + m.Name + ", which still has its data, to respond" + m.WhyNotReady(in.Paused)
			return
		case m.IsCorrupt():
		case plan.Member == "" || int64(m.Status.Applied) > plan.Index:
			plan.Member, plan.Index = m.Name, int64(m.Status.Applied)
		}
	}
	if plan.Member == "" {
		plan.Waits = "a user to restore a backup: etcd reports that the data of all remaining members is corrupt"
	} else if why := in.Unreadable(plan.Member); why != "" {
		plan.Waits = "member " + plan.Member + ", which has the most log entries, to become readable: " + why
	}
}

// Unreadable explains why the data of a remaining member can be read neither now nor soon; empty if the data can be
// read.
func (in *Input) Unreadable(name string) string {
	return unreadable(in.Members, name, model.NewJudge(in.Cluster, in.Now, false))
}

func unreadable(members []model.Member, name string, judge model.Judge) string {
	for _, m := range members {
		if m.Name != name || m.Pod == nil || m.Pod.DeletionTimestamp != nil || model.Ended(m.Pod) {
			continue
		}
		return judge.NodeGivenUp(model.Member{Name: name, Pod: m.Pod, Node: m.Node})
	}
	return "its pod is gone or is being deleted"
}
