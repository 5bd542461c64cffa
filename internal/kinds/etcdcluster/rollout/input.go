// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input holds what the rules decide on.
type Input struct {
	View    etcd.View
	Members []model.Member
	// Target is the version that members change to; empty if they keep theirs.
	Target string
	// Invalid is true if the spec cannot be carried out. Then no member changes.
	Invalid bool
	// Persistent is true if members have claims, so that their pods can be recreated.
	Persistent bool
	// CurrentVersion is the lowest version that members ran when they last answered.
	CurrentVersion string
	// SnapshotDue is true if a member that changes to Target might not be able to read its log, as it has not written a
	// snapshot.
	SnapshotDue bool
	// AdvanceLog is the verdict that makes the members write that snapshot.
	AdvanceLog steps.Verdict
}

type rule = func(*Input) steps.Verdict

// Lowest returns the lowest version that any member runs.
func Lowest(members []model.Member) string {
	low := ""
	for _, m := range members {
		if m.Runs != "" && (low == "" || versions.Older(m.Runs, low)) {
			low = m.Runs
		}
	}
	return low
}

// next changes the next member that is due. The leader comes last, and first transfers leadership.
func (in *Input) next(due func(model.Member) bool) steps.Verdict {
	leader, _ := in.View.Leader()
	last := -1
	for i, m := range in.Members {
		switch {
		case !due(m):
		case m.ID == leader && last < 0:
			last = i
		case m.ID != leader:
			return in.change(i)
		}
	}
	if last < 0 {
		return steps.Verdict{}
	}
	if step := steps.TransferLeaderFirst(in.View, in.Members, in.Members[last], nil); step != nil {
		return steps.Verdict{Step: step}
	}
	return in.change(last)
}

func (in *Input) change(i int) steps.Verdict {
	m := &in.Members[i]
	if in.recreates(*m) {
		return steps.Verdict{Recreate: m.Name}
	}
	return steps.Verdict{Change: m, Version: in.Target}
}

// recreates reports whether a member's pod is recreated for other settings. A member without a claim is replaced
// instead.
func (in *Input) recreates(m model.Member) bool { return in.Persistent && m.Outdated }

func (in *Input) any(is func(model.Member) bool) bool { return slices.ContainsFunc(in.Members, is) }
