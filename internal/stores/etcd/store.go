// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcd is what the operator knows of etcd clusters and does to them over their
// own protocol. A Store is a connection to one cluster: it reads who its members are and
// changes that, one member at a time. A Prober looks at many clusters, each at its own
// pace, and says when something that matters has changed.
//
// Nothing here knows pods, claims or objects of Kubernetes: what is to be done is decided
// by the kind, from a View. Package etcdtest has clusters that only exist in memory.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"time"
)

// Refusals of a cluster. What a call returns beside these is that it could not be made,
// or was not answered in time: then no one knows whether it was carried out.
var (
	// ErrLearnerNotReady refuses the promotion of a learner that lags behind.
	ErrLearnerNotReady = errors.New("the learner has not caught up with the leader")
	// ErrUnhealthy refuses a change after which, for all that the cluster knows, too
	// few members would be connected.
	ErrUnhealthy = errors.New("the cluster is too unhealthy for a change of its members")
	// ErrMemberNotFound reports that no member has this id (any more).
	ErrMemberNotFound = errors.New("no such member")
	// ErrPeerURLExists reports that there is a member with this peer URL.
	ErrPeerURLExists = errors.New("a member has this peer URL")
	// ErrTooManyLearners refuses a learner beside another one.
	ErrTooManyLearners = errors.New("there is a learner already")
	// ErrNotLearner reports that the member to be promoted is a voter. One that lags behind
	// gets ErrLearnerNotReady.
	ErrNotLearner = errors.New("the member is no learner")
	// ErrNoLearners refuses a learner to etcd before 3.4, which would add a voter instead.
	ErrNoLearners = errors.New("this version of etcd has no learners")
	// ErrNoLeader reports that the cluster, or the member asked, knows no leader.
	ErrNoLeader = errors.New("no leader")
	// ErrCompacted reports that the history before a revision was thrown away already.
	ErrCompacted = errors.New("the history has been compacted")
	// ErrNotLeader reports that the member asked to hand over the lead has not got it.
	ErrNotLeader = errors.New("the member does not lead")
)

// Member is one that a cluster has. It counts in the cluster's arithmetic whether or not
// it has ever run.
type Member struct {
	ID                   uint64
	Name                 string
	PeerURLs, ClientURLs []string
	// Learner is one that follows the log and has no vote.
	Learner bool
}

// Started reports whether the member has ever run: it is then that it makes its client URLs
// known. Its name does not tell: the first members of a cluster have theirs from the start.
func (m Member) Started() bool { return len(m.ClientURLs) > 0 }

// MemberStatus is what one member says of itself.
type MemberStatus struct {
	// Asked is when it was asked: nothing that it says is older. An answer that took its time comes with a later
	// look than the question went with.
	Asked time.Time
	// ID is the member that answered, and ClusterID its cluster; 0 if none did.
	ID, ClusterID uint64
	Version       string
	// Leader is the member it follows, or itself; 0 if it knows none.
	Leader              uint64
	RaftIndex, RaftTerm uint64
	// Applied is how far it has carried out what stands in its log, up to RaftIndex.
	Applied uint64
	// Revision is the last of its keys.
	Revision int64
	// DBSize is what its data takes, in bytes, and DBInUse how much of that is not free. A
	// defragmentation gives back what is free.
	DBSize, DBInUse int64
	// Quota is how large DBSize may get, in bytes; less than 0: any size; 0: it does not tell, as
	// before 3.6.
	Quota   int64
	Learner bool
	// Errors are what etcd itself lists, its alarms among them: see Alarms.
	Errors []string
	// Err says why it could not be asked. Nothing else is known then.
	Err error
}

// Target is where a cluster is to be reached.
type Target struct {
	// Endpoints are client URLs of members that are wanted or known.
	Endpoints []string
	TLS       *tls.Config
	// Generation changes when the TLS changes: then, as with other endpoints, all is
	// dialled again.
	Generation string
	// Waste is from when on what is free of a member's data matters to anyone who watches.
	Waste Waste
}

// Store is one cluster, for as long as it is open. It may be used by many at a time.
type Store interface {
	// Members reads the cluster's id and its members, by a quorum of them.
	Members(ctx context.Context) (uint64, []Member, error)
	// Status asks the one member behind an endpoint.
	Status(ctx context.Context, endpoint string) (MemberStatus, error)
	// ClusterVersion asks the one member behind an endpoint which version the cluster speaks,
	// such as 3.6.0; "" before there is one. Members raise it by themselves some seconds after all
	// of them run a newer minor version.
	ClusterVersion(ctx context.Context, endpoint string) (string, error)
	// AddLearner and AddVoter add a member that has yet to be started. If they fail with
	// anything but a refusal, the member may be there or not: look for its peer URL.
	AddLearner(ctx context.Context, peerURL string) (Member, error)
	AddVoter(ctx context.Context, peerURL string) (Member, error)
	// Promote gives a learner a vote.
	Promote(ctx context.Context, id uint64) error
	// Remove takes a member out for good: its data can never come back. Have the leader hand
	// over before it is removed: it answers with an error, for it ends at once.
	Remove(ctx context.Context, id uint64) error
	// MoveLeader has the leader, behind an endpoint, hand over to another voter.
	MoveLeader(ctx context.Context, leaderEndpoint string, to uint64) error
	// Advance has the members write up to so many entries to their logs that change nothing: as many
	// as fit into the time that ctx leaves. It fails only if there was none.
	Advance(ctx context.Context, entries uint64) error
	// Compact throws away the history before a revision, and returns when the member that was asked
	// has given its space free. That may take minutes.
	Compact(ctx context.Context, revision int64) error
	// Defragment has the one member behind an endpoint write its data again without what is free.
	// Until it has, which takes seconds a GB, it answers no one who asks for data.
	Defragment(ctx context.Context, endpoint string) error
	// Disarm takes an alarm back. That none is raised is no error.
	Disarm(ctx context.Context, alarm Alarm) error
	// Hash reads all the data of the one member behind an endpoint, which takes seconds a GB.
	Hash(ctx context.Context, endpoint string) (Hash, error)
	// Close ends the connections. Calls under way fail.
	Close() error
}

// Dialer opens the store of a cluster. It waits for nothing: whether anybody answers is
// seen by the first call.
type Dialer func(Target) (Store, error)
