// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// FormedWith returns the lowest etcd version that any first member may have run. It considers the recorded version, the
// versions of the spec and the pods (seen), and what members report.
func FormedWith(noted string, seen []string, view etcd.View) string {
	low := noted
	for _, status := range view.Status {
		seen = append(seen, status.Version)
	}
	for _, text := range seen {
		if _, err := versions.Parse(text); err == nil && (low == "" || versions.Older(text, low)) {
			low = text
		}
	}
	return low
}

// From returns a log index after which no entry has the format of etcd 3.5, which etcd 3.7 cannot read; 0 if unknown.
// The index is known once all members have agreed on cluster version 3.6. opcrew records it at once, so that ordinary
// writes can cause the necessary snapshots before the user requests an upgrade to 3.7.
func From(in *Input) int64 {
	if in.From != 0 || formedNew(in.FormedWith) || in.View.Err != nil || !versions.SameMinor(in.View.ClusterVersion, firstNew) {
		return in.From
	}
	if slices.ContainsFunc(in.Members, func(m model.Member) bool { return !m.Answers || versions.Older(m.Version, firstNew) }) {
		return 0
	}
	return int64(lastIndex(in.View))
}

// lastIndex returns the highest committed log index that any member reports.
func lastIndex(view etcd.View) uint64 {
	last := uint64(0)
	for _, status := range view.Status {
		last = max(last, status.RaftIndex)
	}
	return last
}
