// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcd is the client of etcd clusters. A Store is an open connection to one cluster: it reads the members and changes
// them one at a time. A Prober looks at many clusters, each at its own pace, and reports when a view changes in a way that
// matters.
//
// Nothing here knows pods, claims or objects of Kubernetes: the kind decides what to do, from a View. Package etcdtest
// simulates clusters.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"time"
)

// Refusals of a cluster. Any other error means that the call could not be made or was not answered in time: it is not known
// then whether it was carried out.
var (
	// ErrLearnerNotReady refuses the promotion of a learner that lags behind.
	ErrLearnerNotReady = errors.New("the learner has not caught up with the leader")
	// ErrUnhealthy refuses a change after which too few members would be connected, as far as the cluster knows.
	ErrUnhealthy = errors.New("the cluster is too unhealthy for a change of its members")
	// ErrMemberNotFound reports that no member has this ID (any more).
	ErrMemberNotFound = errors.New("no such member")
	// ErrPeerURLExists reports that a member has this peer URL.
	ErrPeerURLExists = errors.New("a member already has this peer URL")
	// ErrTooManyLearners refuses a learner beside another one.
	ErrTooManyLearners = errors.New("the cluster already has a learner")
	// ErrNotLearner reports that the member to be promoted is a voter. A learner that lags behind gets ErrLearnerNotReady.
	ErrNotLearner = errors.New("the member is not a learner")
	// ErrNoLearners refuses a learner to etcd before 3.4, which would add a voter instead.
	ErrNoLearners = errors.New("this version of etcd has no learners")
	// ErrNoLeader reports that the cluster, or the member asked, knows no leader.
	ErrNoLeader = errors.New("the cluster has no leader")
	// ErrCompacted reports that the history before a revision is gone already.
	ErrCompacted = errors.New("the history has been compacted")
	// ErrNotLeader reports that the member asked to hand over is not the leader.
	ErrNotLeader = errors.New("the member is not the leader")
)

// Member is a member of a cluster. It counts for the quorum whether or not it has ever run.
type Member struct {
	ID                   uint64
	Name                 string
	PeerURLs, ClientURLs []string
	// Foreign are client URLs that are none of the target's. They are not in ClientURLs, and never asked.
	Foreign []string
	// Learner reports that it copies the log and has no vote.
	Learner bool
}

// Started reports whether the member has ever run: it then publishes its client URLs. Its name is not evidence: initial members
// have theirs from the start.
func (m Member) Started() bool { return len(m.ClientURLs)+len(m.Foreign) > 0 }

// Endpoint is where the member can be asked; false if it has not run, or publishes no URL of the target.
func (m Member) Endpoint() (string, bool) {
	if len(m.ClientURLs) == 0 {
		return "", false
	}
	return m.ClientURLs[0], true
}

// MemberStatus is what one member reports about itself.
type MemberStatus struct {
	// Asked is when the request was sent: nothing in the answer is older. A slow answer appears in a later view.
	Asked time.Time
	// ID is the member that answered, and ClusterID its cluster; 0 if none did.
	ID, ClusterID uint64
	Version       string
	// Leader is the ID of the leader that the member knows, which may be itself; 0 for none.
	Leader              uint64
	RaftIndex, RaftTerm uint64
	// Applied is the index of the last log entry that the member has applied, at most RaftIndex.
	Applied uint64
	// Revision is the latest revision of the member's key space.
	Revision int64
	// DBSize is the size of its data, in bytes, and DBInUse how much of that is not free. A defragmentation frees the
	// difference.
	DBSize, DBInUse int64
	// Quota is the limit of DBSize, in bytes; negative for no limit; 0 if it is not reported, as before 3.6.
	Quota   int64
	Learner bool
	// Errors are what etcd itself lists, including its alarms: see Alarms.
	Errors []string
	// Err is why the request failed. Nothing else is known then.
	Err error
}

// Target is how to reach a cluster.
type Target struct {
	// Endpoints are client URLs of members that are desired or known. No other URL is ever asked, whatever members publish.
	Endpoints []string
	// Addresses are the IP addresses of the endpoints' hosts, as observed on their pods. A host without one is not dialled.
	Addresses map[string]string
	TLS       *tls.Config
	// Generation changes with the TLS configuration. Another generation, or other endpoints or addresses, dial again.
	Generation string
	// Waste is when free space in a member's data matters to the controller.
	Waste Waste
}

// Store is an open connection to one cluster. It is safe for concurrent use.
type Store interface {
	// Members reads the cluster's ID and its members, by a quorum.
	Members(ctx context.Context) (uint64, []Member, error)
	// Status asks the member at an endpoint.
	Status(ctx context.Context, endpoint string) (MemberStatus, error)
	// ClusterVersion asks the member at an endpoint for the cluster version, such as 3.6.0; "" before there is one. Members
	// raise it some seconds after all of them run a newer minor version.
	ClusterVersion(ctx context.Context, endpoint string) (string, error)
	// AddLearner and AddVoter add a member that has yet to be started. After an error other than a refusal the member may be
	// there: look for its peer URL.
	AddLearner(ctx context.Context, peerURL string) (Member, error)
	AddVoter(ctx context.Context, peerURL string) (Member, error)
	// Promote gives a learner a vote.
	Promote(ctx context.Context, id uint64) error
	// Remove removes a member for good: its data can never come back. The leader must hand over first: it would exit at once
	// and answer with an error.
	Remove(ctx context.Context, id uint64) error
	// MoveLeader makes the leader, at an endpoint, hand over to another voter.
	MoveLeader(ctx context.Context, leaderEndpoint string, to uint64) error
	// Advance makes the members write up to so many entries to their logs that change nothing, as many as fit into the time of
	// ctx. It fails only if there was none.
	Advance(ctx context.Context, entries uint64) error
	// Compact drops the history before a revision, and returns when the member asked has freed its space, which may take
	// minutes.
	Compact(ctx context.Context, revision int64) error
	// Defragment makes the member at an endpoint write its data again without free space. Until it has, which takes seconds per
	// GB, it answers no request for data.
	Defragment(ctx context.Context, endpoint string) error
	// Disarm clears an alarm. It is not an error if none is raised.
	Disarm(ctx context.Context, alarm Alarm) error
	// Hash reads all data of the member at an endpoint, which takes seconds per GB.
	Hash(ctx context.Context, endpoint string) (Hash, error)
	// Close ends the connections. Calls under way fail.
	Close() error
}

// Dialer opens the store of a cluster without waiting: the first call shows whether a member answers.
type Dialer func(Target) (Store, error)
