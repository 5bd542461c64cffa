// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot determines whether etcd 3.7 can read the logs of members that run 3.6. Up to 3.5, etcd logs some
// entries in a form that 3.7 cannot parse. A member reads its log from its last snapshot on, but with few writes, 3.6
// never writes a snapshot after these entries. See docs/design/etcd.md.
package snapshot

import (
	"slices"
	"strconv"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

const (
	// countVariable is the variable for the number of log entries between snapshots. defaultCount is etcd's default.
	countVariable = "ETCD_SNAPSHOT_COUNT"
	defaultCount  = 10_000
	// maxCount is the largest number of log entries that opcrew writes to force a snapshot. They cause about half a
	// minute of disk writes on the members.
	maxCount = 200_000
	// margin is the number of extra log entries that a member must have applied before it counts as having written a
	// snapshot. Members apply entries in batches, so the index that a member reports may be ahead of its snapshot by up
	// to margin entries.
	margin = 200
	// lag is the number of log entries that opcrew writes in addition to those that the followers must apply. A
	// follower learns that entries are committed only when it receives later entries.
	lag = 500
)

// firstNew is the first version that never writes log entries in the format of etcd 3.5, which etcd 3.7 cannot read.
const firstNew = "3.6.0"

// FirstWithoutOldEntries is the first version that cannot read log entries in the format of etcd 3.5.
const FirstWithoutOldEntries = "3.7.0"

// Input holds everything on which the decisions of this package depend.
type Input struct {
	View    etcd.View
	Members []model.Member
	// FormedWith is the lowest etcd version that a first member may have run; empty if unknown.
	FormedWith string
	// From is the log index after which no entry has the format of etcd 3.5; 0 if unknown.
	From int64
	// Env holds the environment variables for etcd in the spec.
	Env []etcdv1beta2.EnvVar
	// Target is the version that members change to next. Lowest is the lowest version that any member runs.
	Target, Lowest string
	// Refused explains why the last step failed; empty if it succeeded.
	Refused string
}

// Due reports whether members must write a snapshot before they change to the target version. It is true until every
// member has applied so many entries that it must have written a snapshot. It is also true if it is unknown how many
// entries are necessary.
func Due(in *Input) bool {
	old := in.Target != "" && !versions.Older(in.Target, FirstWithoutOldEntries) && versions.Older(in.Lowest, FirstWithoutOldEntries)
	if !old || formedNew(in.FormedWith) {
		return false
	}
	count, known := entriesBetween(in.Env)
	needed := uint64(in.From) + count + margin
	return in.From == 0 || !known || slices.ContainsFunc(in.Members, func(m model.Member) bool {
		return !m.Answers || m.Outdated || m.Status.Applied < needed
	})
}

// formedNew reports whether no member of the cluster has ever written log entries in the format of etcd 3.5, which
// etcd 3.7 cannot read.
func formedNew(formedWith string) bool {
	return formedWith != "" && !versions.Older(formedWith, firstNew)
}

// entriesBetween returns the number of log entries between two snapshots. known is false if the variable's value comes
// from another object (valueFrom).
func entriesBetween(variables []etcdv1beta2.EnvVar) (count uint64, known bool) {
	count = defaultCount
	for _, env := range variables {
		if env.Name != countVariable {
			continue
		}
		if env.ValueFrom != nil {
			return 0, false
		}
		// For a value that is not a positive number, etcd uses its default.
		if n, err := strconv.ParseUint(env.Value, 10, 32); err == nil && n > 0 {
			count = n
		}
	}
	return count, true
}
