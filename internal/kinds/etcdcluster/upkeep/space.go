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
	// quotaVariable sets how large the data of a member may get, and defaultQuota is etcd's default.
	quotaVariable = "ETCD_QUOTA_BACKEND_BYTES"
	defaultQuota  = 2 << 30
	// fullPercent of the quota has to be in use for the history to be compacted: below that a defragmentation is enough.
	// A member that takes so much is worth one.
	fullPercent = 80
	// shortPercent of the quota is what members may take when the alarm is disarmed. With more it would be raised again
	// at once.
	shortPercent = 95
	// compactionPause passes between two compactions of a cluster whose clients delete keys.
	compactionPause = 30 * time.Second
	// freeingTime is how long members may take to free what was compacted.
	freeingTime = 10 * time.Second
)

// quota is how large the data of a member may get, in bytes: as it reports or as the spec has it. 0: the value is not in
// the spec. Less than 0: any size.
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

// exceeds reports whether a size is more than so many percent of the quota of any voter.
func (in *Input) exceeds(size, percent int64) bool {
	return slices.ContainsFunc(in.View.Voters(), func(m etcd.Member) bool {
		quota := in.quota(in.View.Status[m.ID])
		return quota > 0 && size > quota/100*percent
	})
}

// isShort reports whether a member still takes so much that the alarm would be raised again.
func (in *Input) isShort() bool {
	return slices.ContainsFunc(in.View.Voters(), func(m etcd.Member) bool {
		return in.exceeds(in.View.Status[m.ID].DBSize, shortPercent)
	})
}

// compactTo is the revision up to which the history is compacted now; 0: it is not, because the members are not full of
// history, or because all of it is kept.
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

// fullest is the status of the voter with the most data in use.
func (in *Input) fullest() etcd.MemberStatus {
	var out etcd.MemberStatus
	for _, m := range in.View.Voters() {
		if status := in.View.Status[m.ID]; status.DBInUse > out.DBInUse {
			out = status
		}
	}
	return out
}
