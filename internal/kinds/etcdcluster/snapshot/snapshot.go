// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot decides when members of etcd 3.6 can read their logs as 3.7. Up to 3.5, etcd logs members and
// cluster versions in a form that 3.7 cannot parse; a member reads its log from its last snapshot. With few writes, 3.6
// never writes a snapshot after the last old entry. docs/design/etcd.md has the details.
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
	// countVariable sets the number of entries between snapshots, and defaultCount is etcd's default.
	countVariable = "ETCD_SNAPSHOT_COUNT"
	defaultCount  = 10_000
	// maxCount is the largest number of entries that opcrew writes for a snapshot. They take about half a minute of
	// disk writes on the members.
	maxCount = 200_000
	// margin is how many entries more than needed a member must have applied. Entries are applied in batches, so the
	// index that it reports is that much ahead of the snapshot.
	margin = 200
	// lag is how many entries ahead the leader is once the others have what they need. They learn that entries were
	// committed only with the entries after them.
	lag = 500
)

// firstNew is the first version that writes no entries in the old form.
const firstNew = "3.6.0"

// FirstWithoutOldEntries is the first version that cannot read the old form.
const FirstWithoutOldEntries = "3.7.0"

// Input holds what the rules decide on.
type Input struct {
	View    etcd.View
	Members []model.Member
	// FormedWith is the lowest version that a first member may have run; empty if unknown.
	FormedWith string
	// From is the log index after which no entry has the old form; 0 if unknown.
	From int64
	// Env holds the environment variables of etcd in the spec.
	Env []etcdv1beta2.EnvVar
	// Target is the version that members change to; Lowest is the lowest version that any member runs.
	Target, Lowest string
	// Refused explains why the last step was not taken.
	Refused string
}

// Due reports whether a member that changes to the target might not be able to read its log. A snapshot is written at
// the latest after a number of entries since the last one. For a member with other settings that number is unknown.
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

// formedNew reports whether no member has ever written entries in the old form.
func formedNew(formedWith string) bool {
	return formedWith != "" && !versions.Older(formedWith, firstNew)
}

// entriesBetween returns the number of entries between two snapshots. known is false if the variable's value comes from
// another object (valueFrom).
func entriesBetween(variables []etcdv1beta2.EnvVar) (count uint64, known bool) {
	count = defaultCount
	for _, env := range variables {
		if env.Name != countVariable {
			continue
		}
		if env.ValueFrom != nil {
			return 0, false
		}
		if n, err := strconv.ParseUint(env.Value, 10, 32); err == nil && n > 0 { // etcd uses its default for other values too
			count = n
		}
	}
	return count, true
}
