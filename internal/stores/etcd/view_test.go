// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"
)

var errGone = errors.New("connection refused")

func voter(id uint64) Member {
	name := fmt.Sprintf("m%d", id)
	return Member{ID: id, Name: name, PeerURLs: []string{"http://" + name + ":2380"}, ClientURLs: []string{"http://" + name + ":2379"}}
}

func learner(id uint64) Member {
	m := voter(id)
	m.Learner = true
	return m
}

// unstarted returns a member that was added but has never run.
func unstarted(id uint64) Member {
	m := voter(id)
	m.Name, m.ClientURLs = "", nil
	return m
}

func follows(id, leader uint64) MemberStatus {
	return MemberStatus{ID: id, ClusterID: 7, Version: "3.6.8", Leader: leader, RaftTerm: 2}
}

// three returns a view of a healthy cluster of three members. Member 2 is the leader.
func three() View {
	return View{
		ClusterID: 7, Members: []Member{voter(1), voter(2), voter(3)}, ClusterVersion: "3.6.0",
		Status: map[uint64]MemberStatus{1: follows(1, 2), 2: follows(2, 2), 3: follows(3, 2)},
	}
}

func with(view View, status map[uint64]MemberStatus) View {
	maps.Copy(view.Status, status)
	return view
}

func TestAViewCountsTheHealthyVotersAgainstTheQuorum(t *testing.T) {
	grown := three()
	grown.Members = append(grown.Members, unstarted(4))
	learning := with(three(), map[uint64]MemberStatus{4: follows(4, 2)})
	learning.Members = append(learning.Members, learner(4))
	unlisted := three()
	unlisted.Err = errGone
	for name, test := range map[string]struct {
		view            View
		healthy, quorum int
		has             bool
	}{
		"nothing seen":                    {View{}, 0, 1, false},
		"all well":                        {three(), 3, 2, true},
		"one cannot be asked":             {with(three(), map[uint64]MemberStatus{3: {Err: errGone}}), 2, 2, true},
		"two cannot be asked":             {with(three(), map[uint64]MemberStatus{2: {Err: errGone}, 3: {Err: errGone}}), 1, 2, false},
		"one has no leader":               {with(three(), map[uint64]MemberStatus{3: follows(3, 0)}), 2, 2, true},
		"a voter that has not run counts": {grown, 3, 3, true},
		"a learner does not":              {learning, 3, 2, true},
		"the members could not be listed": {unlisted, 3, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.view.HealthyVoters(); got != test.healthy {
				t.Errorf("expected %d healthy voters, got %d", test.healthy, got)
			}
			if got := test.view.Quorum(); got != test.quorum {
				t.Errorf("expected a quorum of %d, got %d", test.quorum, got)
			}
			if got := test.view.HasQuorum(); got != test.has {
				t.Errorf("expected a quorum to be there: %t, got %t", test.has, got)
			}
		})
	}
}

func TestAMemberIsIllOnlyOfItsOwnAlarmAndNotForWantOfSpace(t *testing.T) {
	for name, test := range map[string]struct {
		errors []string
		want   bool
	}{
		"none":                      {nil, true},
		"corrupt":                   {[]string{"memberID:1 alarm:CORRUPT "}, false},
		"corrupt, spelled by 3.7":   {[]string{"memberID:1  alarm:CORRUPT"}, false},
		"corrupt, in text format":   {[]string{"memberID: 1 alarm: CORRUPT"}, false},
		"another member is":         {[]string{"memberID:2 alarm:CORRUPT "}, true},
		"out of space":              {[]string{"memberID:1 alarm:NOSPACE "}, true},
		"an error that is no alarm": {[]string{"etcdserver: storage quota is low"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			status := follows(1, 2)
			status.Errors = test.errors
			if got := with(three(), map[uint64]MemberStatus{1: status}).Healthy(1); got != test.want {
				t.Errorf("expected healthy: %t, got %t", test.want, got)
			}
		})
	}
}

func TestTheLeaderIsThatOfTheLatestTerm(t *testing.T) {
	later := follows(3, 3)
	later.RaftTerm = 9
	for name, test := range map[string]struct {
		view View
		want uint64
	}{
		"all agree":               {three(), 2},
		"one is cut off":          {with(three(), map[uint64]MemberStatus{3: later}), 3},
		"the leader is not there": {with(three(), map[uint64]MemberStatus{2: {Err: errGone}}), 2},
		"no member knows one":     {View{Status: map[uint64]MemberStatus{1: follows(1, 0)}}, 0},
		"no member was asked":     {View{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := test.view.Leader()
			if got != test.want || ok != (test.want != 0) {
				t.Errorf("expected leader %d, got %d, %t", test.want, got, ok)
			}
		})
	}
}

func TestMembersAreFoundByIDNameAndPeerURL(t *testing.T) {
	view := three()
	view.Members = append(view.Members, unstarted(4))
	find := func(m Member, ok bool) uint64 {
		if !ok {
			return 0
		}
		return m.ID
	}
	for name, test := range map[string]struct{ got, want uint64 }{
		"by id":                            {find(view.Member(3)), 3},
		"by an ID that no member has":      {find(view.Member(5)), 0},
		"by name":                          {find(view.ByName("m2")), 2},
		"by no name":                       {find(view.ByName("")), 0},
		"by peer URL":                      {find(view.ByPeerURL("http://m4:2380")), 4},
		"by a peer URL that no member has": {find(view.ByPeerURL("http://m5:2380")), 0},
		"by a client URL, as no peer":      {find(view.ByPeerURL("http://m1:2379")), 0},
	} {
		if test.got != test.want {
			t.Errorf("%s: expected member %d, got %d", name, test.want, test.got)
		}
	}
	view.Members[0].Learner = true
	if voters, learners := len(view.Voters()), len(view.Learners()); voters != 3 || learners != 1 {
		t.Errorf("expected 3 voters and a learner, got %d and %d", voters, learners)
	}
}

func TestAFirstMemberThatHasOnlyANameHasNotStarted(t *testing.T) {
	m := voter(1)
	m.ClientURLs = nil
	if m.Started() || !voter(1).Started() {
		t.Error("expected a member to be started once it has made its client URLs known")
	}
}

func TestOnlyWhatMattersMakesAViewDiffer(t *testing.T) {
	moved := func(change func(*View)) View {
		view := three()
		change(&view)
		return view
	}
	status := func(change func(*MemberStatus)) View {
		return moved(func(v *View) {
			s := v.Status[3]
			change(&s)
			v.Status[3] = s
		})
	}
	for name, test := range map[string]struct {
		view  View
		alike bool
	}{
		"nothing":                  {three(), true},
		"the time":                 {moved(func(v *View) { v.At = time.Unix(9, 0) }), true},
		"the index":                {status(func(s *MemberStatus) { s.RaftIndex++ }), true},
		"the size":                 {status(func(s *MemberStatus) { s.DBSize++ }), true},
		"the version":              {status(func(s *MemberStatus) { s.Version = "3.6.9" }), false},
		"an alarm":                 {status(func(s *MemberStatus) { s.Errors = []string{"memberID:3 alarm:NOSPACE "} }), false},
		"a member does not answer": {status(func(s *MemberStatus) { s.Err = errGone }), false},
		"a member has no leader":   {status(func(s *MemberStatus) { s.Leader = 0 }), false},
		"the leader":               {moved(func(v *View) { with(*v, map[uint64]MemberStatus{1: follows(1, 1), 2: follows(2, 1), 3: follows(3, 1)}) }), false},
		"a name":                   {moved(func(v *View) { v.Members[2].Name = "other" }), false},
		"a vote":                   {moved(func(v *View) { v.Members[2].Learner = true }), false},
		"one member less":          {moved(func(v *View) { v.Members = v.Members[:2] }), false},
		"an endpoint is absent":    {moved(func(v *View) { v.Absent = []string{"http://m4:2379"} }), false},
		"the members are unknown":  {moved(func(v *View) { v.Err = errGone }), false},
		"a step was taken":         {moved(func(v *View) { v.Stale = true }), false},
		"what the cluster speaks":  {moved(func(v *View) { v.ClusterVersion = "3.7.0" }), false},
		"that it does not tell":    {moved(func(v *View) { v.VersionErr = errGone }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := alike(three(), test.view); got != test.alike {
				t.Errorf("expected alike: %t, got %t", test.alike, got)
			}
		})
	}
}

func TestAnotherErrorWhileTheMembersAreUnknownDoesNotMatter(t *testing.T) {
	one, other := three(), three()
	one.Err, other.Err = errGone, errors.New("took too long")
	one.Status[3], other.Status[3] = MemberStatus{Err: one.Err}, MemberStatus{Err: other.Err}
	if !alike(one, other) {
		t.Error("expected two failures to be alike")
	}
}

func TestAClusterIsLookedAtOftenWhileAnythingIsAmiss(t *testing.T) {
	growing, learning := three(), with(three(), map[uint64]MemberStatus{4: follows(4, 2)})
	growing.Members = append(growing.Members, unstarted(4))
	learning.Members = append(learning.Members, learner(4))
	failing, stale, absent := three(), three(), three()
	failing.Err, stale.Stale, absent.Absent = errGone, true, []string{"http://m4:2379"}
	raised, mute := three(), three()
	raised.ClusterVersion, mute.ClusterVersion, mute.VersionErr = "3.5.0", "3.5.0", errGone
	for name, test := range map[string]struct {
		view View
		want time.Duration
	}{
		"at rest":               {three(), rested},
		"a member is down":      {with(three(), map[uint64]MemberStatus{1: {Err: errGone}}), eager},
		"a member has to start": {growing, eager},
		"a learner":             {learning, eager},
		"unknown":               {failing, eager},
		"after a step":          {stale, eager},
		"one is to come":        {absent, eager},
		"nothing is known":      {View{}, eager},
		"a version to agree on": {raised, eager},
		"it cannot be asked":    {mute, rested},
	} {
		if got := DefaultInterval(test.view); got != test.want {
			t.Errorf("%s: expected %s, got %s", name, test.want, got)
		}
	}
}
