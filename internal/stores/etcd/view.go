// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"slices"
	"time"
)

// View is what one read of a cluster has shown.
type View struct {
	// At is when the read started. Nothing in the view is older, except the members' statuses: see MemberStatus.Asked.
	At time.Time
	// Err explains why the members could not be listed; nil if they were. After an error, Members and ClusterID are
	// from the last successful read: use them in messages only, never for a step.
	Err       error
	ClusterID uint64
	Members   []Member
	// Status has the status of each member, by member ID. A member that has not been queried yet has none.
	Status map[uint64]MemberStatus
	// ClusterVersion is the version that the members last agreed on, such as 3.6.0; "" if unknown. It is read again
	// only while it differs from the lowest minor version that a member runs.
	ClusterVersion string
	// VersionErr explains why this read could not get the cluster version; nil if the read got the version, or did not
	// need it.
	VersionErr error
	// DisagreesSince is when the cluster version began to differ from the version that the members run; zero if the two
	// do not differ.
	DisagreesSince time.Time
	// Decided is the log position in the last read that showed a quorum, which may be an earlier read than this one;
	// zero if none did.
	Decided Decided
	// Absent are the endpoints of the target that no member publishes.
	Absent []string
	// Foreign are the client URLs that members publish but that are not endpoints of the target.
	Foreign []Foreign
	// Wasteful are the IDs of the members whose free space exceeds the target's Waste.
	Wasteful []uint64
	// Work is the name of the work that is running in the background, such as a defragmentation; "" for none.
	Work string
	// Stale is true if a step was taken after the view was read. The next read starts at once, and shows the effect of
	// the step.
	Stale bool
}

// Decided is the log position of a cluster when it last had a quorum.
type Decided struct {
	// At is when the first member was queried in the read that showed the quorum. All writes that were acknowledged
	// before At are in the log up to Index.
	At    time.Time
	Index uint64
}

// noteDecided records the current log position of the cluster, if there is a quorum and the leader has answered.
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

// asked returns the earliest time at which a member that answered in this read was queried. The leader is certain only
// for that time: members that answered early may have elected another leader since.
func (v *View) asked() time.Time {
	first := v.At
	for _, status := range v.Status {
		if status.Err == nil && status.Asked.Before(first) {
			first = status.Asked
		}
	}
	return first
}

// Voters returns the members that count for the quorum, whether or not they have run.
func (v View) Voters() []Member { return v.members(false) }

// Learners returns the members without a vote.
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

// Leader returns the ID of the leader that the members report, in the latest term if they disagree; false if none
// reports a leader.
func (v View) Leader() (uint64, bool) {
	var latest MemberStatus
	for _, status := range v.Status {
		if status.Err == nil && status.Leader != 0 && status.RaftTerm >= latest.RaftTerm {
			latest = status
		}
	}
	return latest.Leader, latest.Leader != 0
}

// Healthy reports whether a member has answered, has a leader, and is not corrupt according to an alarm. A member that
// is out of space still votes and counts as healthy.
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

// Quorum returns the number of voters that must agree to a write: more than half.
func (v View) Quorum() int { return len(v.Voters())/2 + 1 }

// HasQuorum reports whether this read has shown that enough voters for a quorum are healthy.
func (v View) HasQuorum() bool { return v.Err == nil && v.HealthyVoters() >= v.Quorum() }

// Member returns the member with this ID.
func (v View) Member(id uint64) (Member, bool) {
	return v.find(func(m Member) bool { return m.ID == id })
}

// ByName returns the member with this name. A member that was added has its name only after its first start.
func (v View) ByName(name string) (Member, bool) {
	return v.find(func(m Member) bool { return name != "" && m.Name == name })
}

// ByPeerURL returns the member with this peer URL. A member has its peer URL from the moment that it is added.
func (v View) ByPeerURL(url string) (Member, bool) {
	return v.find(func(m Member) bool { return slices.Contains(m.PeerURLs, url) })
}

func (v View) find(is func(Member) bool) (Member, bool) {
	if i := slices.IndexFunc(v.Members, is); i >= 0 {
		return v.Members[i], true
	}
	return Member{}, false
}
