// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"reflect"
	"slices"
	"strings"
)

// matters holds what a controller uses of a View. Log indexes, sizes, times and the text of errors change all the time;
// a change of these alone starts no reconcile.
type matters struct {
	failing, stale bool
	cluster        uint64
	members        []Member
	status         map[uint64]state
	leader         uint64
	absent         string
	foreign        []Foreign
	version        string
	unversioned    bool
	work           string
	wasteful       []uint64
}

// state holds the parts of a member's status that a controller uses.
type state struct {
	answers, healthy, learner bool
	version, errors           string
}

// alike reports whether two views look the same to a controller.
func alike(a, b View) bool { return reflect.DeepEqual(a.matters(), b.matters()) }

func (v View) matters() matters {
	leader, _ := v.Leader()
	out := matters{
		failing: v.Err != nil, stale: v.Stale, cluster: v.ClusterID, leader: leader,
		members: v.Members, status: map[uint64]state{}, absent: joined(v.Absent), foreign: v.Foreign,
		version: v.ClusterVersion, unversioned: v.VersionErr != nil,
		work: v.Work, wasteful: v.Wasteful,
	}
	for id, status := range v.Status {
		out.status[id] = state{
			answers: status.Err == nil, healthy: v.Healthy(id), learner: status.Learner,
			version: status.Version, errors: status.troubles(),
		}
	}
	return out
}

// troubles returns the errors of a status, sorted and with normalized spaces.
func (s MemberStatus) troubles() string {
	var out []string
	for _, line := range s.Errors {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return joined(out)
}

func joined(lines []string) string { return strings.Join(slices.Sorted(slices.Values(lines)), "\n") }
