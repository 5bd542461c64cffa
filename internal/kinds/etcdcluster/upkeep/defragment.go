// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package upkeep

import (
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

const (
	// minGain is the smallest number of free bytes that makes a defragmentation worthwhile. If the data is large, a
	// twentieth of its size must be free instead.
	minGain = 1 << 20
	// pauseAfterFailure is the time from a failed defragmentation to the next attempt.
	pauseAfterFailure = time.Minute
	// restFactor limits how often opcrew defragments a member that reports no free space. Between two defragmentations,
	// at least restFactor times the duration of the last one must pass.
	restFactor = 20
)

// Defragment makes members return free space to the disk, if spec.upkeep requests it and the schedule allows it now.
func Defragment(in *Input) steps.Verdict {
	if may, _ := in.window(); !may {
		return steps.Verdict{}
	}
	waste := Waste(in.Spec)
	return in.defragmentNext(func(status etcd.MemberStatus) bool { return status.Exceeds(waste) && in.gains(status) })
}

// defragmentNext defragments one of the members that are due. The leader comes last: before opcrew defragments the
// leader, it makes another voter the leader.
func (in *Input) defragmentNext(due func(etcd.MemberStatus) bool) steps.Verdict {
	leader, _ := in.View.Leader()
	several := model.Voters(in.Members) > 1
	var last *model.Member
	for i, m := range in.Members {
		switch {
		case !m.Voter() || !due(in.View.Status[m.ID]):
		case m.ID == leader:
			last = &in.Members[i]
		default:
			return steps.Verdict{Step: steps.Defragment(m, several)}
		}
	}
	if last == nil {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: steps.TransferLeaderFirst(in.View, in.Members, *last, steps.Defragment(*last, several))}
}

// gains reports whether a defragmentation would return enough space. opcrew does not defragment a member again until
// its data has changed, because etcd may allocate free space again right after a defragmentation.
func (in *Input) gains(status etcd.MemberStatus) bool {
	last := in.History.Defragmented[status.ID]
	switch {
	case status.Free() < max(minGain, status.DBSize/20):
		return false
	case last.At.IsZero():
		return true
	case last.Failed != "":
		return in.Now.Sub(last.At) >= pauseAfterFailure
	}
	return status.DBSize > last.Size+last.Size/20 || status.DBInUse < last.InUse-last.InUse/20
}

// A member that is out of space may report an outdated size in use: etcd updates it only when it commits a write. While
// writes are refused, the reported size may be from before a compaction. Only a defragmentation shows how much is free.

// promisesRoom reports whether a defragmentation of the member would return enough space according to the sizes that it
// reports.
func (in *Input) promisesRoom(status etcd.MemberStatus) bool {
	return in.exceeds(status.DBSize, fullPercent) && in.gains(status)
}

// isOwed reports whether a member that is out of space has not been defragmented since the last compaction. opcrew must
// defragment such a member before it reports that no more space can be freed.
func (in *Input) isOwed(status etcd.MemberStatus) bool {
	last, compaction := in.History.Defragmented[status.ID], in.History.Compaction
	switch {
	case !in.exceeds(status.DBSize, fullPercent) || compaction.Failed != "":
		return false
	case last.At.IsZero() || last.Failed != "":
		return true
	}
	return last.At.Before(compaction.At)
}

// isDue reports whether opcrew may now defragment a member that needs it after a compaction (isOwed). Clients that
// delete keys cause one compaction after another, and the defragmentations after them must not block members all the
// time.
func (in *Input) isDue(status etcd.MemberStatus) bool {
	last := in.History.Defragmented[status.ID]
	rest := restFactor * last.Took
	if last.Failed != "" {
		rest = pauseAfterFailure
	}
	return in.isOwed(status) && in.Now.Sub(last.At) >= rest
}
