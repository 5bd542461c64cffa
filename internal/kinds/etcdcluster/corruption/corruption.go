// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package corruption finds out whose data is corrupt when etcd raises the alarm CORRUPT, which names the first follower
// that differs from the leader, even if the leader is wrong (PeriodicCheck in etcd's corrupt.go). So all members are
// compared, and only one that differs from a majority of the voters is replaced.
package corruption

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// rules are evaluated in this order while the alarm is raised. The first that returns a verdict wins.
var rules = []func(*Input) steps.Verdict{disarmOrphaned, compare, replaceCorrupt, disarm, awaitUser}

// Repair decides what to do while the alarm CORRUPT is raised.
func Repair(in *Input) steps.Verdict {
	if len(in.alarms()) == 0 {
		return steps.Verdict{}
	}
	return steps.First(in, rules...)
}

// disarmOrphaned disarms the alarm if its member has been removed and a single voter is left, which cannot be compared.
func disarmOrphaned(in *Input) steps.Verdict {
	alarms := in.alarms()
	if len(in.View.Voters()) != 1 || len(model.OrphanedAlarms(in.View, alarms)) != len(alarms) {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: steps.Disarm(alarms, "its member was removed")}
}

func compare(in *Input) steps.Verdict {
	if _, known := in.finding(); known {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: steps.Compare(in.View.Voters())}
}

// replaceCorrupt removes a member that differs from the majority. Its successor is added as a learner once the alarm is
// gone.
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
		return steps.Verdict{Waits: "a quorum of voters with the same data, to replace " + m.Name}
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
	return steps.Verdict{Waits: "a user to decide whose data is right: " + found.undecided}
}

// outvotes reports whether the voters with the majority's data can remove a member and continue without it.
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

// Message reports what is known about corrupt data, and what is being done about it; empty if there is no alarm.
func Message(in *Input) string {
	alarms := in.alarms()
	if len(alarms) == 0 {
		return ""
	}
	out := fmt.Sprintf("Writes are refused: etcd reports that data is corrupt (alarm CORRUPT of %s)", model.NameByID(in.View, alarms[0].Member))
	found, known := in.finding()
	switch {
	case !known:
		return out + "; the members are compared"
	case len(found.corrupt) > 0:
		return out + "; the data of " + model.NameByID(in.View, found.corrupt[0]) + " is not that of the majority, and the member is replaced"
	case found.agree:
		return out + "; all voters have the same data, and the alarm is taken back"
	}
	return out + "; " + found.undecided + ", so nothing is done: restore a backup, or take the alarm back (etcdctl alarm disarm) if you know whose data is right"
}
