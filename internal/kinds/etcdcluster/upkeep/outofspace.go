// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package upkeep

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// OutOfSpace returns the message for the status while etcd refuses writes: which member is out of space, and what
// opcrew does about it. It returns "" if no member is out of space. The message changes only when opcrew's next action
// changes.
func OutOfSpace(in *Input) string {
	alarms := model.Alarms(in.View, etcd.AlarmNoSpace)
	if len(alarms) == 0 {
		return ""
	}
	out := fmt.Sprintf("etcd refuses writes because %s is out of space (alarm NOSPACE)", model.NameByID(in.View, alarms[0].Member))
	const byHand = "compact and defragment the members and clear the alarm, or set " + quotaVariable + " in spec.pod.etcdEnv"
	switch {
	case !in.heals():
		return out + "; " + byHand
	case !in.quotaKnown():
		return out + "; the value of " + quotaVariable + " is not in the spec, so opcrew does not know how much room there is; " + byHand
	case in.History.Compaction.Failed != "":
		return out + "; a compaction has failed: " + in.History.Compaction.Failed
	case in.failedDefragmentation() != "":
		return out + "; " + in.failedDefragmentation()
	case in.isShort() && !in.isFreeing() && in.compactTo() == 0 && !in.mayGain():
		return out + "; " + in.shortage()
	}
	return fmt.Sprintf("%s; opcrew is defragmenting the members; if that does not free enough space, opcrew discards the history except for the last %d revisions", out, in.keepRevisions())
}

// failedDefragmentation names a full member whose defragmentation failed, and why; empty if there is none.
func (in *Input) failedDefragmentation() string {
	for _, m := range in.View.Voters() {
		if last := in.History.Defragmented[m.ID]; last.Failed != "" && in.isOwed(in.View.Status[m.ID]) {
			return "the " + steps.DefragmentationOf(model.NameByID(in.View, m.ID)) + " has failed: " + last.Failed
		}
	}
	return ""
}

// mayGain reports whether a defragmentation of any member may return space.
func (in *Input) mayGain() bool {
	return slices.ContainsFunc(in.View.Voters(), func(m etcd.Member) bool {
		status := in.View.Status[m.ID]
		return status.Err != nil || in.promisesRoom(status) || in.isOwed(status)
	})
}

// shortage explains how much space is used and how large the quota must be. opcrew reports this when no more space can
// be freed.
func (in *Input) shortage() string {
	fullest := in.fullest()
	const mebi = 1 << 20
	needed := (fullest.DBInUse*100/fullPercent/mebi + 1) * mebi
	return fmt.Sprintf("no more space can be freed, and %s of %s are in use by %s: set %s in spec.pod.etcdEnv to %d or more%s, or %s",
		steps.FormatSize(fullest.DBInUse), steps.FormatSize(in.quota(fullest)), in.contents(), quotaVariable, needed, in.volumeFor(needed), in.otherWay())
}

// volumeFor returns a clause that says how large the volumes must be for a quota; empty if they are large enough.
// Volumes need twice the quota, because a defragmentation writes a second copy of the data.
func (in *Input) volumeFor(quota int64) string {
	for _, claim := range in.Claims {
		if has := workload.Capacity(claim); !has.IsZero() && has.Value() < 2*quota {
			return fmt.Sprintf(" and %s, which is %s, to %s or more", volumes.StorageField, has.String(), resource.NewQuantity(2*quota, resource.BinarySI))
		}
	}
	return ""
}

// contents names what may fill the members: keys, and the revision history that a compaction keeps. etcd does not
// report the share of each.
func (in *Input) contents() string {
	switch keep := in.keepRevisions(); keep {
	case 0:
		return "keys"
	case 1:
		return "keys and the last revision"
	default:
		return fmt.Sprintf("keys and the last %d revisions", keep)
	}
}

// otherWay says what users can do if they do not want to set a larger quota. Deleting keys is not enough, because they
// still take up space in the revision history that a compaction keeps.
func (in *Input) otherWay() string {
	if keep := in.keepRevisions(); keep > 0 {
		return fmt.Sprintf("delete keys and set spec.upkeep.keepRevisions lower than %d: deleted keys take up room as long as their revisions are kept", keep)
	}
	return "delete keys"
}
