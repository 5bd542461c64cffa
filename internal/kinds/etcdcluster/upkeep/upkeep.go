// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package upkeep decides about the data of members: it defragments, and frees space when a member is out of space.
// Package corruption handles corrupt data. Package settings configures what etcd does by itself, such as periodic
// compaction.
package upkeep

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// AwaitWork blocks all other changes while work on a member's data, such as a defragmentation, is running.
func AwaitWork(in *Input) steps.Verdict {
	if in.View.Work == "" {
		return steps.Verdict{}
	}
	return steps.Verdict{Waits: "the " + in.View.Work}
}

// MakeRoom frees space while the alarm NOSPACE is raised, as etcd's documentation advises: compact the revision
// history, defragment one member after the other, and clear the alarm.
func MakeRoom(in *Input) steps.Verdict {
	alarms := model.Alarms(in.View, etcd.AlarmNoSpace)
	if orphaned := model.OrphanedAlarms(in.View, alarms); len(orphaned) > 0 {
		return steps.Verdict{Step: steps.Disarm(orphaned, "the member was removed")}
	}
	if len(alarms) == 0 || !in.heals() || !in.quotaKnown() {
		return steps.Verdict{}
	}
	if revision := in.compactTo(); revision > 0 {
		return steps.Verdict{Step: steps.Compact(revision)}
	}
	if !in.allWell() || in.isFreeing() {
		return steps.Verdict{} // the members are still freeing space, so a defragmentation would be too early; later rules wait for them
	}
	return steps.First(in, defragmentFull, disarm)
}

// defragmentFull defragments the next member that is out of space.
func defragmentFull(in *Input) steps.Verdict {
	return in.defragmentNext(func(status etcd.MemberStatus) bool { return in.promisesRoom(status) || in.isDue(status) })
}

// disarm clears the alarm. While members are still short of space, it keeps the alarm and leaves the decision to later
// rules, which may change the members to a larger quota in the spec.
func disarm(in *Input) steps.Verdict {
	if in.isShort() {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: steps.Disarm(model.Alarms(in.View, etcd.AlarmNoSpace), "the members have room again")}
}
