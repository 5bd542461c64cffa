// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"reflect"
	"slices"
	"strings"
)

// matters is what a controller acts on in a View. Indexes, sizes, times and the text of errors change all the time and do not
// matter.
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

// state is what matters about a member.
type state struct {
	answers, healthy, learner bool
	version, errors           string
}

// alike reports whether two views differ in nothing that matters.
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

// troubles are the status's errors, sorted and with normal spaces.
func (s MemberStatus) troubles() string {
	var out []string
	for _, line := range s.Errors {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return joined(out)
}

func joined(lines []string) string { return strings.Join(slices.Sorted(slices.Values(lines)), "\n") }
