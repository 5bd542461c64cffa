// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcd is the client of etcd clusters. A Store is an open connection to one cluster: it reads and changes
// members. A Prober reads many clusters in the background, each in its own goroutine, and reports when a view changes
// in a way that matters.
//
// Package etcd knows nothing of pods, claims or other Kubernetes objects; controllers decide from its views. Package
// etcdtest simulates clusters.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"time"
)

// Errors with which a cluster refuses a call. After any other error, such as a timeout, it is unknown whether the call
// was carried out.
var (
	// ErrLearnerNotReady reports that a learner cannot be promoted, because it lags behind.
	ErrLearnerNotReady = errors.New("the learner has not caught up with the leader")
	// ErrUnhealthy reports that the members cannot be changed, because too few of them would be connected afterwards.
	ErrUnhealthy = errors.New("the cluster is too unhealthy for a change of its members")
	// ErrMemberNotFound reports that the cluster has no member with this ID, or no longer has it.
	ErrMemberNotFound = errors.New("the cluster has no such member")
	// ErrPeerURLExists reports that a member already has this peer URL.
	ErrPeerURLExists = errors.New("a member already has this peer URL")
	// ErrTooManyLearners reports that no learner can be added, because the cluster already has one.
	ErrTooManyLearners = errors.New("the cluster already has a learner")
	// ErrNotLearner reports that the member to promote is already a voter. A learner that lags behind gets
	// ErrLearnerNotReady.
	ErrNotLearner = errors.New("the member is not a learner")
	// ErrNoLearners reports that no learner can be added, because etcd before 3.4 would add a voter instead.
	ErrNoLearners = errors.New("this version of etcd does not support learners")
	// ErrNoLeader reports that the member that was queried knows no leader.
	ErrNoLeader = errors.New("the cluster has no leader")
	// ErrCompacted reports that the revision history was already compacted up to the revision that was passed to
	// Compact, or to a later one.
	ErrCompacted = errors.New("the history has been compacted")
	// ErrNotLeader reports that the member that should transfer leadership is not the leader.
	ErrNotLeader = errors.New("the member is not the leader")
)

// Member is a member of a cluster. A voter counts for the quorum even if it has never run.
type Member struct {
	ID                   uint64
	Name                 string
	PeerURLs, ClientURLs []string
	// Foreign are client URLs that the member publishes but that are not endpoints of the target. They are not in
	// ClientURLs, and opcrew does not connect to them.
	Foreign []string
	// Learner is true if the member copies the log but has no vote.
	Learner bool
}

// Started reports whether the member has ever run: it publishes its client URLs when it first starts. Its name does not
// show that, as initial members have names before they start.
func (m Member) Started() bool { return len(m.ClientURLs)+len(m.Foreign) > 0 }

// Endpoint returns the URL at which the member can be queried; false if the member has never run, or publishes no
// endpoint of the target.
func (m Member) Endpoint() (string, bool) {
	if len(m.ClientURLs) == 0 {
		return "", false
	}
	return m.ClientURLs[0], true
}

// MemberStatus is what one member reports about itself.
type MemberStatus struct {
	// Asked is when the request was sent. Nothing in the status is older. A slow answer appears only in a later view.
	Asked time.Time
	// ID is the ID of the member that answered, and ClusterID that of its cluster; 0 if no member answered.
	ID, ClusterID uint64
	Version       string
	// Leader is the ID of the leader that the member knows, which may be the member itself; 0 if it knows none.
	Leader              uint64
	RaftIndex, RaftTerm uint64
	// Applied is the index of the last log entry that the member has applied; at most RaftIndex.
	Applied uint64
	// Revision is the latest revision of the member's keys.
	Revision int64
	// DBSize is the size of the member's data in bytes, including free space, and DBInUse without it. A defragmentation
	// frees the difference.
	DBSize, DBInUse int64
	// Quota is the maximum DBSize in bytes. It is negative if there is no limit, and 0 if unknown, as before etcd 3.6.
	Quota   int64
	Learner bool
	// Errors are the errors that the member lists, including alarms: see Alarms.
	Errors []string
	// Err explains why the request failed; nil if it succeeded. If it failed, all other fields except Asked are empty.
	Err error
}

// Target describes how to reach a cluster.
type Target struct {
	// Endpoints are the client URLs of all desired or known members. opcrew connects to no other URL, whatever members
	// publish.
	Endpoints []string
	// Addresses are the IP addresses of the endpoints' hosts, as observed on the pods. opcrew does not connect to a
	// host without an address.
	Addresses map[string]string
	TLS       *tls.Config
	// Generation changes with the TLS configuration. If the generation, the endpoints or the addresses change, the
	// prober opens new connections.
	Generation string
	// Waste defines how much free space in a member's data makes a defragmentation worthwhile.
	Waste Waste
}

// Store is an open connection to one cluster. It is safe for concurrent use.
type Store interface {
	// Members returns the cluster's ID and its members, as a quorum knows them.
	Members(ctx context.Context) (uint64, []Member, error)
	// Status queries the member at an endpoint for its status.
	Status(ctx context.Context, endpoint string) (MemberStatus, error)
	// ClusterVersion queries the member at an endpoint for the cluster version, such as 3.6.0; "" if the members have
	// not agreed yet. They raise it some seconds after all of them run a newer minor version.
	ClusterVersion(ctx context.Context, endpoint string) (string, error)
	// AddLearner and AddVoter add a member that is not running yet. If the call fails with an error other than a
	// refusal by etcd, such as a timeout, the member may still have been added: look for its peer URL.
	AddLearner(ctx context.Context, peerURL string) (Member, error)
	AddVoter(ctx context.Context, peerURL string) (Member, error)
	// Promote makes a learner a voter.
	Promote(ctx context.Context, id uint64) error
	// Remove removes a member for good: it can never join again with its data. A leader must transfer leadership before
	// it is removed. Otherwise it would exit at once and answer with an error.
	Remove(ctx context.Context, id uint64) error
	// MoveLeader makes the leader, which is at the given endpoint, transfer leadership to another voter.
	MoveLeader(ctx context.Context, leaderEndpoint string, to uint64) error
	// Advance makes the members write up to the given number of log entries that change no data, as many as the
	// deadline of ctx allows. It fails only if no entry was written.
	Advance(ctx context.Context, entries uint64) error
	// Compact deletes the history before a revision. It returns when the member that was queried has freed the space,
	// which may take minutes.
	Compact(ctx context.Context, revision int64) error
	// Defragment makes the member at an endpoint rewrite its data file, so that the file no longer contains free space.
	// This takes seconds per GB. Meanwhile the member answers no requests for data.
	Defragment(ctx context.Context, endpoint string) error
	// Disarm clears an alarm. It succeeds if the alarm is not raised.
	Disarm(ctx context.Context, alarm Alarm) error
	// Hash returns the checksum of the data of the member at an endpoint. It reads all data, which takes seconds per
	// GB.
	Hash(ctx context.Context, endpoint string) (Hash, error)
	// Close closes the connections. Running calls fail.
	Close() error
}

// Dialer opens the store of a cluster without waiting for a connection: only the first call shows whether a member
// answers.
type Dialer func(Target) (Store, error)
