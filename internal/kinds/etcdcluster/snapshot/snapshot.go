// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot decides when members of etcd 3.6 can read their logs as 3.7: not before each has written a snapshot
// after the last entry that an older version wrote.
//
// Up to 3.5, etcd writes members and cluster versions into its log in a form that 3.7 cannot parse. A member that starts
// reads its log from the last snapshot on its disk, and 3.6 writes one only after many entries: in a cluster with few
// writes, never. docs/design/etcd.md has the details.
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
	// maxCount is the largest number of entries that opcrew writes for a snapshot. They take about half a minute, in which
	// the members write to their disks.
	maxCount = 200_000
	// margin is how much further than needed a member must be: the index that it reports is ahead of the snapshot by the
	// entries that are applied at a time.
	margin = 200
	// lag is how far the leader is ahead once the others have what they need: they learn only with the next entries that
	// the last ones were committed.
	lag = 500
)

// firstNew is the first version that writes nothing in the old form.
const firstNew = "3.6.0"

// FirstWithoutOldEntries is the first version that cannot read the old form.
const FirstWithoutOldEntries = "3.7.0"

// Input is what the rules decide on.
type Input struct {
	View    etcd.View
	Members []model.Member
	// FormedWith is the lowest version that a first member may have run; empty: unknown.
	FormedWith string
	// From is the index in the log after which nothing is in the old form; 0: unknown.
	From int64
	// Env are the variables of etcd in the spec.
	Env []etcdv1beta2.EnvVar
	// Target is the version that members change to, and Lowest the lowest that any runs.
	Target, Lowest string
	// Refused is why the last step was not taken.
	Refused string
}

// Due reports whether a member that changes to the target might not be able to read its log. A snapshot comes, at the
// latest, when a member has applied so many entries since its last. Of a member with other settings the number is unknown.
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

// formedNew reports whether no member has ever written to the log in the old form.
func formedNew(formedWith string) bool {
	return formedWith != "" && !versions.Older(formedWith, firstNew)
}

// entriesBetween is the number of entries between two snapshots; unknown if the value is not in the spec.
func entriesBetween(variables []etcdv1beta2.EnvVar) (count uint64, known bool) {
	count = defaultCount
	for _, env := range variables {
		if env.Name != countVariable {
			continue
		}
		if env.ValueFrom != nil {
			return 0, false
		}
		if n, err := strconv.ParseUint(env.Value, 10, 32); err == nil && n > 0 { // else etcd uses its default too
			count = n
		}
	}
	return count, true
}
