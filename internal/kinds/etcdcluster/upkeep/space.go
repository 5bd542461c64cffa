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
	// quotaVariable is the variable for the maximum size of a member's data. defaultQuota is etcd's default, in bytes.
	quotaVariable = "ETCD_QUOTA_BACKEND_BYTES"
	defaultQuota  = 2 << 30
	// fullPercent is the percentage of the quota above which opcrew compacts the revision history. If members use less,
	// a defragmentation is enough.
	fullPercent = 80
	// shortPercent is the largest percentage of the quota that data may take up when opcrew clears the alarm. Above it,
	// etcd would raise the alarm again at once.
	shortPercent = 95
	// compactionPause is the minimum time between two compactions of a cluster.
	compactionPause = 30 * time.Second
	// freeingTime is how long members may take after a compaction to free the compacted space.
	freeingTime = 10 * time.Second
)

// quota returns the maximum size of a member's data in bytes, as the member reports it or the spec sets it. 0 means
// that the value comes from another object (valueFrom) and is unknown. A negative value means no limit.
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

// isShort reports whether some member's data takes up so much of the quota that etcd would soon raise the alarm again.
func (in *Input) isShort() bool {
	return slices.ContainsFunc(in.View.Voters(), func(m etcd.Member) bool {
		return in.exceeds(in.View.Status[m.ID].DBSize, shortPercent)
	})
}

// compactTo returns the revision up to which to compact the revision history of etcd now. It returns 0 if the data in
// use is not large enough, all of the history must be kept, or the last compaction was too recent.
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

// isFreeing reports whether members may still be freeing the space of the last compaction.
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
