// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package corruption handles etcd's alarm CORRUPT. etcd raises it for the first follower that differs from the leader,
// even if the leader's data is wrong (etcd: corrupt.go, PeriodicCheck). So opcrew compares all voters, and replaces
// only a member whose data differs from the majority's.
package corruption

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// rules decide in this order while etcd raises the alarm CORRUPT. The first rule that returns a verdict decides.
var rules = []func(*Input) steps.Verdict{disarmOrphaned, compare, replaceCorrupt, disarm, awaitUser}

// Repair decides what to do while the alarm CORRUPT is raised.
func Repair(in *Input) steps.Verdict {
	if len(in.alarms()) == 0 {
		return steps.Verdict{}
	}
	return steps.First(in, rules...)
}

// disarmOrphaned clears the alarm if the member that the alarm names was removed and only one voter is left. A single
// voter has no other data to be compared with.
func disarmOrphaned(in *Input) steps.Verdict {
	alarms := in.alarms()
	if len(in.View.Voters()) != 1 || len(model.OrphanedAlarms(in.View, alarms)) != len(alarms) {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: steps.Disarm(alarms, "the member was removed")}
}

func compare(in *Input) steps.Verdict {
	if _, known := in.finding(); known {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: steps.Compare(in.View.Voters())}
}

// replaceCorrupt removes a member whose data differs from the majority's. opcrew adds a successor as a learner once the
// alarm is cleared.
func replaceCorrupt(in *Input) steps.Verdict {
	found, _ := in.finding()
	if len(found.corrupt) == 0 {
		return steps.Verdict{}
	}
	i := slices.IndexFunc(in.Members, func(m model.Member) bool { return m.ID == found.corrupt[0] })
	if i < 0 {
		return steps.Verdict{Halt: true}
	}
	m := in.Members[i]
	if !in.outvotes(found, m) {
		return steps.Verdict{Waits: "a quorum of voters with the same data, which is needed to replace " + m.Name}
	}
	return steps.Verdict{Step: steps.TransferLeaderFirst(in.View, in.Members, m, steps.ReplaceCorrupt(m))}
}

func disarm(in *Input) steps.Verdict {
	if found, _ := in.finding(); !found.agree {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: steps.Disarm(in.alarms(), "all voters have the same data")}
}

func awaitUser(in *Input) steps.Verdict {
	found, _ := in.finding()
	return steps.Verdict{Waits: "a user to decide which member's data is right: " + found.undecided}
}

// outvotes reports whether enough voters answer for a quorum to remove the member, and the voters with the majority's
// data are a quorum without it.
func (in *Input) outvotes(found finding, m model.Member) bool {
	right, answer := 0, 0
	for _, voter := range in.View.Voters() {
		status := in.View.Status[voter.ID]
		if status.Err != nil || status.Leader == 0 {
			continue
		}
		answer++
		if voter.ID != m.ID && !slices.Contains(found.corrupt, voter.ID) {
			right++
		}
	}
	left := len(in.View.Voters()) - 1
	return answer >= in.View.Quorum() && right >= left/2+1
}

// Message describes for the status what is known about corrupt data and what opcrew does about it; empty if etcd does
// not raise the alarm CORRUPT.
func Message(in *Input) string {
	alarms := in.alarms()
	if len(alarms) == 0 {
		return ""
	}
	out := fmt.Sprintf("etcd refuses writes because it found corrupt data (alarm CORRUPT of %s)", model.NameByID(in.View, alarms[0].Member))
	found, known := in.finding()
	switch {
	case !known:
		return out + "; opcrew is comparing the data of the members"
	case len(found.corrupt) > 0:
		return out + "; the data of " + model.NameByID(in.View, found.corrupt[0]) + " differs from the majority's data, so opcrew is replacing this member"
	case found.agree:
		return out + "; all voters have the same data, so opcrew is clearing the alarm"
	}
	return out + "; " + found.undecided + ", so opcrew does nothing: restore a backup, or clear the alarm (etcdctl alarm disarm) if you know which member's data is right"
}
