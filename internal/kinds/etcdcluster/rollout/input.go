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

// Input holds everything on which the rules of this package base their decisions.
type Input struct {
	View    etcd.View
	Members []model.Member
	// Target is the etcd version that members change to next; empty if they keep their version.
	Target string
	// Invalid is true if opcrew cannot carry out the spec. Then no member changes.
	Invalid bool
	// Persistent is true if members have claims. Only then can opcrew recreate their pods without a loss of data.
	Persistent bool
	// CurrentVersion is the lowest version that any member last reported.
	CurrentVersion string
	// SnapshotDue is true if members must write a snapshot before they change to Target, as Target may not be able to
	// read their logs.
	SnapshotDue bool
	// AdvanceLog is the verdict that makes the members write a snapshot; it is set only if SnapshotDue is true.
	AdvanceLog steps.Verdict
}

type rule = func(*Input) steps.Verdict

// Lowest returns the lowest etcd version that any member runs; "" if none is known.
func Lowest(members []model.Member) string {
	low := ""
	for _, m := range members {
		if m.Runs != "" && (low == "" || versions.Older(m.Runs, low)) {
			low = m.Runs
		}
	}
	return low
}

// next changes one of the members for which due returns true. The leader comes last: before opcrew changes the leader,
// it makes another voter the leader.
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

// recreates reports whether opcrew recreates the member's pod because its settings differ. A member without a claim
// would lose its data, so opcrew replaces the whole member instead.
func (in *Input) recreates(m model.Member) bool { return in.Persistent && m.Outdated }

func (in *Input) any(is func(model.Member) bool) bool { return slices.ContainsFunc(in.Members, is) }
