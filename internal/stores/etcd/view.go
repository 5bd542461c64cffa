// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"slices"
	"time"
)

// View is what one look at a cluster has shown.
type View struct {
	// At is when the look began: nothing in it is older, but for what members say of themselves (MemberStatus.Asked).
	At time.Time
	// Err says why the members could not be listed. Members and ClusterID are then those
	// of the last look that could, if there was one: good for telling a user, and never
	// for taking a step.
	Err       error
	ClusterID uint64
	Members   []Member
	// Status is by member id. A member that has not been asked yet has none.
	Status map[uint64]MemberStatus
	// ClusterVersion is what the members last agreed to speak, such as 3.6.0; "" until it is
	// known. It is asked for only while the lowest minor version that a member runs is another.
	ClusterVersion string
	// VersionErr says why it could not be asked for in this look.
	VersionErr error
	// DisagreesSince is since when it is another one than they run; zero if it is not.
	DisagreesSince time.Time
	// Decided is the last look that showed a quorum, this one or one before; zero: none has.
	Decided Decided
	// Absent are the endpoints of the target that no member has made known as its own.
	Absent []string
	// Wasteful are the members whose data exceeds the target's Waste.
	Wasteful []uint64
	// Work is the name of what is being done to the cluster beside the looks; "" for nothing.
	Work string
	// Stale reports that a step has been taken since: the next look, which comes at once,
	// shows what came of it.
	Stale bool
}

// Decided is how far a cluster was when it was last seen to have a quorum.
type Decided struct {
	// At is when the first of the members was asked that showed it. Whatever was acknowledged before stands in the log
	// up to Index.
	At    time.Time
	Index uint64
}

// noteDecided remembers how far the cluster is, if its leader has told.
func (v *View) noteDecided(before View) {
	v.Decided = before.Decided
	if before.ClusterID != v.ClusterID {
		v.Decided = Decided{}
	}
	leader, known := v.Leader()
	status, answered := v.Status[leader]
	if !known || !answered || status.Err != nil || !v.HasQuorum() {
		return
	}
	if at := v.asked(); !at.Before(v.Decided.At) {
		v.Decided = Decided{At: at, Index: status.RaftIndex}
	}
}

// asked is when the first of those was asked whose answers this look has: who leads is only known for then, as
// those who answered early may have elected another since.
func (v *View) asked() time.Time {
	first := v.At
	for _, status := range v.Status {
		if status.Err == nil && status.Asked.Before(first) {
			first = status.Asked
		}
	}
	return first
}

// Voters are the members that count for the quorum, started or not.
func (v View) Voters() []Member { return v.members(false) }

// Learners are the members without a vote.
func (v View) Learners() []Member { return v.members(true) }

func (v View) members(learner bool) []Member {
	var out []Member
	for _, m := range v.Members {
		if m.Learner == learner {
			out = append(out, m)
		}
	}
	return out
}

// Leader is the member that those who answered follow: in the latest term, should they
// not agree.
func (v View) Leader() (uint64, bool) {
	var latest MemberStatus
	for _, status := range v.Status {
		if status.Err == nil && status.Leader != 0 && status.RaftTerm >= latest.RaftTerm {
			latest = status
		}
	}
	return latest.Leader, latest.Leader != 0
}

// Healthy reports whether a member has answered, follows a leader, and has no alarm about
// its data. One that is out of space still votes, and is healthy here.
func (v View) Healthy(id uint64) bool {
	status, asked := v.Status[id]
	return asked && status.Err == nil && status.Leader != 0 &&
		!slices.Contains(status.Alarms(), Alarm{Member: id, Kind: AlarmCorrupt})
}

// HealthyVoters counts the voters that are healthy.
func (v View) HealthyVoters() int {
	n := 0
	for _, m := range v.Voters() {
		if v.Healthy(m.ID) {
			n++
		}
	}
	return n
}

// Quorum is how many voters must be connected for anything to be written.
func (v View) Quorum() int { return len(v.Voters())/2 + 1 }

// HasQuorum reports whether this look has shown that enough voters are healthy.
func (v View) HasQuorum() bool { return v.Err == nil && v.HealthyVoters() >= v.Quorum() }

// Member finds a member by its id.
func (v View) Member(id uint64) (Member, bool) {
	return v.find(func(m Member) bool { return m.ID == id })
}

// ByName finds a member by its name, which it has once it has run.
func (v View) ByName(name string) (Member, bool) {
	return v.find(func(m Member) bool { return name != "" && m.Name == name })
}

// ByPeerURL finds a member by a peer URL, which it has from when it is added.
func (v View) ByPeerURL(url string) (Member, bool) {
	return v.find(func(m Member) bool { return slices.Contains(m.PeerURLs, url) })
}

func (v View) find(is func(Member) bool) (Member, bool) {
	if i := slices.IndexFunc(v.Members, is); i >= 0 {
		return v.Members[i], true
	}
	return Member{}, false
}
