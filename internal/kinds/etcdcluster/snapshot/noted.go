// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// FormedWith returns the lowest version that any first member may have run: the recorded one, or one in the spec, on a
// pod or in a member's answer.
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

// From returns the log index after which no entry has the old form: all members run 3.6, and have agreed on it. It is
// recorded as soon as it is known, as the members may get far enough by themselves before the upgrade to 3.7 is
// requested.
func From(in *Input) int64 {
	if in.From != 0 || formedNew(in.FormedWith) || in.View.Err != nil || !versions.SameMinor(in.View.ClusterVersion, firstNew) {
		return in.From
	}
	if slices.ContainsFunc(in.Members, func(m model.Member) bool { return !m.Answers || versions.Older(m.Version, firstNew) }) {
		return 0
	}
	return int64(lastIndex(in.View))
}

// lastIndex returns the index of the last entry that any member knows to be committed.
func lastIndex(view etcd.View) uint64 {
	last := uint64(0)
	for _, status := range view.Status {
		last = max(last, status.RaftIndex)
	}
	return last
}
