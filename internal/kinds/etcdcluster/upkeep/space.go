// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package upkeep

import (
	"slices"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

const (
	// quotaVariable sets the maximum size of a member's data; defaultQuota is etcd's default.
	quotaVariable = "ETCD_QUOTA_BACKEND_BYTES"
	defaultQuota  = 2 << 30
	// fullPercent is how much of the quota must be in use before the history is compacted. Below that a defragmentation
	// is enough. A member whose data takes up this much is worth defragmenting.
	fullPercent = 80
	// shortPercent is how much of the quota members' data may take up when the alarm is disarmed. With more it would be
	// raised again at once.
	shortPercent = 95
	// compactionPause is the minimum time between two compactions of a cluster whose clients delete keys.
	compactionPause = 30 * time.Second
	// freeingTime is how long members may take to free what was compacted.
	freeingTime = 10 * time.Second
)

// quota returns the maximum size of a member's data in bytes, as it reports or as the spec sets it. 0 if the variable's
// value comes from another object (valueFrom); less than 0 if there is no limit.
func (in *Input) quota(status etcd.MemberStatus) int64 {
	if status.Quota != 0 {
		return status.Quota
	}
	for _, env := range in.Env {
		switch n, err := strconv.ParseInt(env.Value, 10, 64); {
		case env.Name != quotaVariable:
		case env.ValueFrom != nil:
			return 0
		case err == nil && n != 0:
			return n
		}
	}
	return defaultQuota
}

func (in *Input) quotaKnown() bool {
	return !slices.ContainsFunc(in.View.Members, func(m etcd.Member) bool { return in.quota(in.View.Status[m.ID]) == 0 })
}

// exceeds reports whether a size is more than a percentage of the quota of any voter.
func (in *Input) exceeds(size, percent int64) bool {
	return slices.ContainsFunc(in.View.Voters(), func(m etcd.Member) bool {
		quota := in.quota(in.View.Status[m.ID])
		return quota > 0 && size > quota/100*percent
	})
}

// isShort reports whether a member's data still takes up so much that the alarm would be raised again.
func (in *Input) isShort() bool {
	return slices.ContainsFunc(in.View.Voters(), func(m etcd.Member) bool {
		return in.exceeds(in.View.Status[m.ID].DBSize, shortPercent)
	})
}

// compactTo returns the revision up to which to compact the history now. 0 if the members are not full of history, or
// all of it is to be kept.
func (in *Input) compactTo() int64 {
	revision, full := int64(0), false
	for _, m := range in.View.Voters() {
		status := in.View.Status[m.ID]
		revision, full = max(revision, status.Revision), full || in.exceeds(status.DBInUse, fullPercent)
	}
	revision -= in.keepRevisions()
	last := in.History.Compaction
	if !full || revision <= in.History.Compacted || !last.At.IsZero() && in.Now.Sub(last.At) < compactionPause {
		return 0
	}
	return revision
}

// isFreeing reports whether members may still be freeing what the last compaction removed.
func (in *Input) isFreeing() bool { return in.Now.Sub(in.History.Compaction.At) < freeingTime }

// fullest returns the status of the voter with the most data in use.
func (in *Input) fullest() etcd.MemberStatus {
	var out etcd.MemberStatus
	for _, m := range in.View.Voters() {
		if status := in.View.Status[m.ID]; status.DBInUse > out.DBInUse {
			out = status
		}
	}
	return out
}
