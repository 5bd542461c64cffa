// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

// Status queries one member for its status.
func (r *remote) Status(ctx context.Context, endpoint string) (MemberStatus, error) {
	c, err := r.conn(endpoint)
	if err != nil {
		return MemberStatus{Err: err}, err
	}
	answer, err := c.maintenance.Status(ctx, endpoint)
	if err != nil {
		err = fmt.Errorf("%s: %w", endpoint, typed(err))
		return MemberStatus{Err: err}, err
	}
	c.learn(plain.Line(answer.Version, mostWord))
	header := answer.Header
	if header == nil {
		header = &etcdserverpb.ResponseHeader{}
	}
	if answer.Leader != 0 && answer.Leader == header.MemberId {
		r.follow(endpoint)
	}
	return MemberStatus{
		ID: header.MemberId, ClusterID: header.ClusterId, Version: plain.Line(answer.Version, mostWord),
		Leader: answer.Leader, RaftIndex: answer.RaftIndex, RaftTerm: answer.RaftTerm, Applied: answer.RaftAppliedIndex,
		Revision: header.Revision, DBSize: answer.DbSize, DBInUse: answer.DbSizeInUse, Quota: answer.DbSizeQuota,
		Learner: answer.IsLearner, Errors: shortened(answer.Errors),
	}, nil
}

// AddLearner adds a member without a vote.
func (r *remote) AddLearner(ctx context.Context, peerURL string) (Member, error) {
	c, err := r.stepper(ctx)
	if err != nil {
		return Member{}, err
	}
	if c.before(4) { // true also if the version is unknown
		if _, err := r.Status(ctx, c.endpoint); err != nil {
			return Member{}, err
		}
	}
	if c.before(4) {
		return Member{}, ErrNoLearners
	}
	return added(c.MemberAddAsLearner(ctx, []string{peerURL}))
}

// AddVoter adds a member that counts for the quorum at once.
func (r *remote) AddVoter(ctx context.Context, peerURL string) (Member, error) {
	c, err := r.stepper(ctx)
	if err != nil {
		return Member{}, err
	}
	return added(c.MemberAdd(ctx, []string{peerURL}))
}

func added(answer *clientv3.MemberAddResponse, err error) (Member, error) {
	if err != nil {
		return Member{}, typed(err)
	}
	if answer.Member == nil {
		return Member{}, errors.New("the response does not name the added member")
	}
	return member(answer.Member), nil
}

// Promote makes a learner a voter.
func (r *remote) Promote(ctx context.Context, id uint64) error {
	c, err := r.stepper(ctx)
	if err != nil {
		return err
	}
	_, err = c.MemberPromote(ctx, id)
	return typed(err)
}

// Remove removes a member from the cluster.
func (r *remote) Remove(ctx context.Context, id uint64) error {
	c, err := r.stepper(ctx)
	if err != nil {
		return err
	}
	_, err = c.MemberRemove(ctx, id)
	return typed(err)
}

// MoveLeader makes the leader transfer leadership to another voter.
func (r *remote) MoveLeader(ctx context.Context, leaderEndpoint string, to uint64) error {
	c, err := r.conn(leaderEndpoint)
	if err != nil {
		return err
	}
	_, err = c.maintenance.MoveLeader(ctx, to)
	return typed(err)
}

// stepper returns the connection to the member that all steps are sent to. If a step got no answer, this member shows
// whether the step was carried out. Another member may lag behind.
func (r *remote) stepper(ctx context.Context) (*conn, error) {
	r.mu.Lock()
	endpoint := r.voter
	r.mu.Unlock()
	if endpoint == "" {
		if _, _, err := r.Members(ctx); err != nil {
			return nil, err
		}
		return r.stepper(ctx)
	}
	return r.conn(endpoint)
}
