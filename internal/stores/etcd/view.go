// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"slices"
	"time"
)

// View is what one reading of a cluster has shown.
type View struct {
	// At is when the look began: nothing in it is older, except what members report about themselves (MemberStatus.Asked).
	At time.Time
	// Err is why the members could not be listed. Members and ClusterID are then from the last look that could list them: for
	// messages only, never for a step.
	Err       error
	ClusterID uint64
	Members   []Member
	// Status is by member ID. A member that has not been asked yet has none.
	Status map[uint64]MemberStatus
	// ClusterVersion is the version that the members last agreed on, such as 3.6.0; "" until it is known. It is only asked for
	// while it differs from the lowest minor version of the members.
	ClusterVersion string
	// VersionErr is why it could not be asked for in this look.
	VersionErr error
	// DisagreesSince is since when it differs from the version of the members; zero if it does not.
	DisagreesSince time.Time
	// Decided is from the last look that showed a quorum, this one or an earlier one; zero if none has.
	Decided Decided
	// Absent are the endpoints of the target that no member has published.
	Absent []string
	// Foreign are the URLs that members publish and that are none of the target's.
	Foreign []Foreign
	// Wasteful are the members whose free space exceeds the target's Waste.
	Wasteful []uint64
	// Work is the name of the work under way beside the looks; "" for none.
	Work string
	// Stale reports that a step has been taken since: the next look, which starts at once, shows its effect.
	Stale bool
}

// Decided is the log position of a cluster when it last had a quorum.
type Decided struct {
	// At is when the first of the members in that look was asked. All writes acknowledged before are in the log up to Index.
	At    time.Time
	Index uint64
}

// noteDecided records the log position of the cluster, if its leader has answered.
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

// asked is when the first member of this look was asked: the leader is known for that time only, as members that answered early
// may have elected another since.
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

// Leader is the leader of the members that answered, in the latest term if they disagree.
func (v View) Leader() (uint64, bool) {
	var latest MemberStatus
	for _, status := range v.Status {
		if status.Err == nil && status.Leader != 0 && status.RaftTerm >= latest.RaftTerm {
			latest = status
		}
	}
	return latest.Leader, latest.Leader != 0
}

// Healthy reports whether a member has answered, has a leader, and has no alarm about corrupt data. A member without space
// still votes, and is healthy here.
func (v View) Healthy(id uint64) bool {
	status, asked := v.Status[id]
	return asked && status.Err == nil && status.Leader != 0 &&
		!slices.Contains(status.Alarms(), Alarm{Member: id, Kind: AlarmCorrupt})
}

// HealthyVoters counts the healthy voters.
func (v View) HealthyVoters() int {
	n := 0
	for _, m := range v.Voters() {
		if v.Healthy(m.ID) {
			n++
		}
	}
	return n
}

// Quorum is how many voters must be connected for a write.
func (v View) Quorum() int { return len(v.Voters())/2 + 1 }

// HasQuorum reports whether this look has shown that enough voters are healthy.
func (v View) HasQuorum() bool { return v.Err == nil && v.HealthyVoters() >= v.Quorum() }

// Member finds a member by its ID.
func (v View) Member(id uint64) (Member, bool) {
	return v.find(func(m Member) bool { return m.ID == id })
}

// ByName finds a member by its name, which it has after its first start.
func (v View) ByName(name string) (Member, bool) {
	return v.find(func(m Member) bool { return name != "" && m.Name == name })
}

// ByPeerURL finds a member by a peer URL, which it has from its addition.
func (v View) ByPeerURL(url string) (Member, bool) {
	return v.find(func(m Member) bool { return slices.Contains(m.PeerURLs, url) })
}

func (v View) find(is func(Member) bool) (Member, bool) {
	if i := slices.IndexFunc(v.Members, is); i >= 0 {
		return v.Members[i], true
	}
	return Member{}, false
}
